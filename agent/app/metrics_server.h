// The agent's /metrics page over HTTP.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/http/server/http_server.h"
#include "common/loop/event_loop.h"

namespace plimsoll {

class MetricsServer {
 public:
  // Listens on "HOST:PORT", port 0: any free one; loopback only, since it speaks plain text. `page`
  // makes the page, on the loop's thread. InvalidArgument: the address; Unavailable: it cannot be
  // bound. `loop` outlives the server.
  static StatusOr<std::unique_ptr<MetricsServer>> Listen(EventLoop& loop, const std::string& listen,
                                                         std::function<std::string()> page);

  // With the port that was given or found.
  const std::string& address() const { return address_; }

 private:
  MetricsServer() = default;
  std::string address_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace plimsoll
