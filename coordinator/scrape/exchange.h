// One HTTP request and its whole answer within bounds of time and size, on any scheduler and
// transport. One after another: a target is never asked twice at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/scheduler.h"
#include "common/base/status.h"
#include "common/http/transport.h"

namespace plimsoll {

struct ExchangeAnswer {
  // Not OK: no whole answer, with what went wrong for people: no connection, nothing in time, cut,
  // too large.
  Status status;
  std::uint16_t http = 0;  // Status line; 0: none came.
  std::string content_type;
  std::string location;           // Where a redirection points.
  std::optional<double> started;  // Process-Start-Time-Unix, seconds since 1970.
  std::string body;               // Decoded.
  // What the answer describes happened between the two: the request's first byte and the answer's
  // last.
  MonoTime sent{};
  MonoTime ended{};

  MonoTime middle() const { return sent + (ended - sent) / 2; }
  Duration uncertainty() const { return (ended - sent) / 2; }
};

// OK if the answer came whole with status 200; else in words what the server says instead.
Status CheckAnswer(const ExchangeAnswer& answer);

class Exchange final : public TransferObserver {
 public:
  using Done = std::function<void(ExchangeAnswer)>;

  // Both outlive it.
  Exchange(Scheduler& scheduler, HttpTransport& http, std::size_t body_bytes_max);

  // Not while one is under way. `done` is called once, later, and may start the next one; it must
  // not destroy this. Cancel() and destruction silence it.
  void Start(HttpRequest request, Duration timeout, Done done);
  void Cancel();
  bool under_way() const { return transfer_ != nullptr; }

  void OnSent(MonoTime at) override;
  void OnUploadDone(MonoTime) override {}
  void OnHeader(std::string_view name_lower, std::string_view value) override;
  void OnHeaders(std::uint16_t status, MonoTime) override;
  void OnBody(std::string_view bytes, MonoTime at) override;
  void OnEnd(const TransferEnd& end) override;

 private:
  void Finish(Status status, MonoTime at);

  Scheduler& scheduler_;
  HttpTransport& http_;
  const std::size_t body_bytes_max_;
  std::size_t body_bytes_before_ = 0;  // Of the last answer: the next one is about as large.
  Duration timeout_{};
  Done done_;
  ExchangeAnswer answer_;
  Timer limit_;
  std::unique_ptr<HttpTransport::Transfer> transfer_;
};

}  // namespace plimsoll
