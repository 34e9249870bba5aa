// CallTransport over HTTP: one streamed chat completion a call, observed into exactly one
// CallResult by the rules of design section 2. Works on any HttpTransport and Scheduler, so all of
// it but the sockets is tested in virtual time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/scheduler.h"
#include "common/chat/call_transport.h"
#include "common/http/transport.h"
#include "common/plan/plan.h"

namespace plimsoll {

struct HttpCallOptions {
  std::string bearer_token;  // Empty: no authorization header.
};

class HttpCallTransport final : public CallTransport {
 public:
  // `http` and `scheduler` outlive it; it outlives its calls.
  HttpCallTransport(HttpTransport& http, Scheduler& scheduler, const TargetPlan& target,
                    HttpCallOptions options);
  ~HttpCallTransport() override;

  // The call's deadline and idle limit are the target's; the idle limit runs from here. A request
  // that met a dead kept connection before any byte of an answer is sent once more, and counted.
  [[nodiscard]] std::unique_ptr<Call> Start(const CallRequest& request,
                                            CallObserver& observer) override;

  std::size_t active() const;  // Calls that have not ended.

 private:
  class Impl;
  class HttpCall;
  std::unique_ptr<Impl> impl_;
};

// Retry-After as seconds, or as a date of which `date`, the answer's own, is taken off, or
// retry-after-ms; at most a day. Negative: none of them.
Duration ParseRetryAfter(std::string_view retry_after, std::string_view milliseconds,
                         std::string_view date = "");

}  // namespace plimsoll
