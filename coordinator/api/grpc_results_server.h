// The API over gRPC: the service Results of proto/plimsoll/v1/api.proto, answered on the loop.
#pragma once

#include <memory>
#include <string>

#include "common/base/scheduler.h"
#include "common/base/status.h"
#include "common/base/time.h"
#include "coordinator/api/results.h"
#include "coordinator/api/watch_hub.h"

namespace plimsoll {

class GrpcResultsServer {
 public:
  // How long the destructor waits for readers to take what was sent, before it cuts them.
  static constexpr Duration kShutdownWait = 500ms;

  // "host:port", port 0: any free one; whether the address may be used is the caller's business.
  // Everything outlives the server. Unavailable: it cannot be bound.
  static StatusOr<std::unique_ptr<GrpcResultsServer>> Listen(const std::string& listen,
                                                             Scheduler& scheduler,
                                                             const Results& results, WatchHub& hub);
  // On the loop's thread. No call of the hub or the results comes after it.
  ~GrpcResultsServer();
  GrpcResultsServer(const GrpcResultsServer&) = delete;
  GrpcResultsServer& operator=(const GrpcResultsServer&) = delete;

  // With the port that was given or found.
  std::string address() const;

 private:
  class Impl;
  explicit GrpcResultsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
