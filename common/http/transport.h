// HttpTransport: requests to the deployment as a seam. Real: curl_transport (libcurl multi-socket
// on Asio). Scripted: tests/fakes/scripted_transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/time.h"

namespace plimsoll {

// A request body generated while it is uploaded: no buffer ever holds all of it.
class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual std::uint64_t size() const = 0;  // Known beforehand: it becomes Content-Length.
  // Writes the next bytes, at most `capacity`; returns how many. 0 only at the end.
  virtual std::size_t Read(char* to, std::size_t capacity) = 0;
};

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::unique_ptr<BodySource> body;  // Null: none.
  std::string accept_encoding;       // As the header; empty: none asked for, none decoded.
  std::string ca_file;               // https only; empty: the system's bundle.
  std::string client_cert;           // https only, PEM: what we show; empty: nothing.
  std::string client_key;            // PEM, of client_cert; empty: it is in that file.
  Duration connect_timeout = 10s;
};

enum class TransferResult : std::uint8_t {
  kOk,            // The answer came whole, whatever its status.
  kConnectError,  // No connection (resolve, refused, TLS, connect timeout), or broken before any
                  // header.
  kBroken,        // Broken after the status line: reset, short body.
  kProtocol,      // The peer does not speak HTTP.
  kClientError,   // Ours: no port, no descriptor, out of memory, a certificate file that is none.
};

// Why no encrypted connection came to be, as far as somebody can do something about it.
enum class TlsTrouble : std::uint8_t {
  kNone,
  kNotTrusted,   // No certificate authority that we know vouches for the peer, or none any more.
  kOtherHost,    // The peer's certificate is for another name.
  kNotTls,       // The peer speaks something else at this port.
  kHandshake,    // The peer broke off before anything was agreed.
  kWantsClient,  // The peer asks for a certificate of ours, or refuses the one it got.
  kOurFiles,     // A file of ours, of authorities, certificate or key, is none.
};

struct TransferEnd {
  TransferResult result = TransferResult::kOk;
  std::string message;          // For people; empty when kOk.
  bool new_connection = false;  // The transfer opened its connection.
  MonoTime at{};
  TlsTrouble tls = TlsTrouble::kNone;
};

// Called on the loop's thread, never from inside Start(). Each instant was taken in the receive or
// send callback, before any parsing.
class TransferObserver {
 public:
  virtual ~TransferObserver() = default;
  // A connection is being opened: its socket was made, names are resolved. Once for each address
  // that is tried; never on a kept connection. The transfer must not be destroyed in it.
  virtual void OnConnecting(MonoTime) {}
  virtual void OnSent(MonoTime at) = 0;        // First byte of the request handed over; once.
  virtual void OnUploadDone(MonoTime at) = 0;  // Last byte of the body handed over; once.
  virtual void OnHeader(std::string_view name_lower, std::string_view value) = 0;
  virtual void OnHeaders(std::uint16_t status, MonoTime at) = 0;  // After the last OnHeader.
  // Decoded, when an encoding was asked for. `bytes` die on return; what came in one read of the
  // socket comes with one instant, however it is cut.
  virtual void OnBody(std::string_view bytes, MonoTime at) = 0;
  virtual void OnEnd(const TransferEnd& end) = 0;  // Last call, exactly once.
};

class HttpTransport {
 public:
  // Destroying it cancels, silently: the observer hears nothing more. May be done in a callback.
  class Transfer {
   public:
    virtual ~Transfer() = default;
  };
  virtual ~HttpTransport() = default;
  // `observer` outlives the transfer.
  [[nodiscard]] virtual std::unique_ptr<Transfer> Start(HttpRequest request,
                                                        TransferObserver& observer) = 0;
};

}  // namespace plimsoll
