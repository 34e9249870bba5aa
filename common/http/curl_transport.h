// HttpTransport over libcurl's multi-socket interface on an EventLoop. The manners of design
// section 9 are kept here: many multi handles of at most 64 transfers, a few starts and sends a
// turn, no Expect header, no seek function (a body is never sent again behind our back), HTTP/1.1,
// no proxies, no redirects.
#pragma once

#include <cstddef>
#include <memory>

#include "common/http/transport.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

class CurlTransport final : public HttpTransport {
 public:
  explicit CurlTransport(EventLoop& loop);  // `loop` outlives it.
  // Transfers still open are cut, silently; their handles may be destroyed later. Not in a
  // callback.
  ~CurlTransport() override;

  // A start that has to wait for its turn shows as a later OnSent. On a keep-alive connection that
  // the peer had closed, a request with a body fails with kConnectError and new_connection false:
  // whether to send again is the caller's decision.
  [[nodiscard]] std::unique_ptr<Transfer> Start(HttpRequest request,
                                                TransferObserver& observer) override;

  std::size_t active() const;  // Transfers handed to curl and not ended.
  std::size_t queued() const;  // Started, waiting for their turn.

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
