// A small HTTP/1.1 server on an EventLoop, for the gateway and the API: keep-alive, bodies up to a
// limit, whole or streamed answers, word of peers that hang up. No TLS. Everything runs on the
// loop's thread; a peer can cause an answer or a closed connection, never more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"

namespace plimsoll {

class EventLoop;

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpServerRequest {
  std::string method;   // As sent: "GET", "POST", …
  std::string target;   // Path and query, as sent.
  HttpHeaders headers;  // Names in lower case, in the order sent.
  std::string body;

  // The first such header's value; empty when absent.
  std::string_view Header(std::string_view name_lower) const;
  // The target without its query.
  std::string_view Path() const { return std::string_view(target).substr(0, target.find('?')); }
};

// The answer to one request: either Send(), or StartStream(), Write()…, End(). May be kept and used
// later, on the loop's thread. Once the peer has hung up everything does nothing.
class HttpResponder {
 public:
  class Exchange;  // The connection's side of it.

  explicit HttpResponder(std::shared_ptr<Exchange> exchange);
  HttpResponder(HttpResponder&&) noexcept = default;
  HttpResponder& operator=(HttpResponder&& other) noexcept;
  // An answer that was not finished is aborted: no peer waits for ever.
  ~HttpResponder();

  // A whole answer; Content-Length is added.
  void Send(int status, const HttpHeaders& headers, std::string_view body);
  // A streamed answer of unknown length (chunked; for HTTP/1.0 until the connection closes).
  void StartStream(int status, const HttpHeaders& headers);
  // One piece, sent at once as far as the peer reads. A peer that lets more than unsent_max pile
  // up, or reads nothing for write_timeout, is disconnected.
  void Write(std::string_view piece);
  void End();
  // What was written still goes out; then the connection closes without the stream's proper end.
  void Abort();
  // As Abort(), but the connection is reset, with a streamed answer in the middle of a piece.
  void Reset();
  // `hung_up` runs at most once, in a turn of its own, if the peer goes away before the answer was
  // finished here; one that closes only its sending side counts as gone too. Not after Send(),
  // End(), Abort() or destruction.
  void OnHangUp(std::function<void()> hung_up);
  // False once the answer is finished or the peer is known to have gone.
  bool open() const;
  // Bytes written that the peer's side of the connection has not taken yet; 0 once finished.
  std::size_t unsent() const;

 private:
  std::shared_ptr<Exchange> exchange_;  // Shared with the connection; null when finished.
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";  // A numeric address, or "localhost".
  std::uint16_t port = 0;          // 0: any free one.
  std::size_t head_max = std::size_t{64} << 10;
  std::size_t body_max = std::size_t{64} << 20;   // Beyond: 413.
  std::size_t unsent_max = std::size_t{4} << 20;  // Of one stream.
  std::size_t connections_max = 16'384;           // More are closed at once.
  Duration idle_timeout = 75s;                    // Between requests.
  Duration request_timeout = 60s;                 // From a request's first byte to its last.
  Duration write_timeout = 30s;                   // Without progress.
};

class HttpServer {
 public:
  // Runs on the loop's thread, once a request; malformed ones are answered 400, 413 or 431 without
  // it. It need not answer before it returns.
  using Handler = std::function<void(HttpServerRequest, HttpResponder)>;

  // Listens at once; kUnavailable says why it cannot. `loop` outlives the server and every
  // responder.
  static StatusOr<std::unique_ptr<HttpServer>> Listen(EventLoop& loop,
                                                      const HttpServerOptions& options,
                                                      Handler handler);
  // Closes the listener and every connection, silently.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;
  // Bytes of answers, finished ones included, that still wait for their peers.
  std::size_t unsent() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// "Not Found" of 404; "Unknown" of codes without a common phrase.
std::string_view HttpReason(int status);

}  // namespace plimsoll
