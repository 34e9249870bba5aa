// ApiServer: the whole API of one process, over HTTP and gRPC, from one source. Everything runs on
// the loop; a reader can cost it an answer or a closed connection, never more.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/status.h"
#include "common/loop/event_loop.h"
#include "coordinator/api/results.h"

namespace plimsoll {

// "HOST:PORT", port 0: any free one; empty: not at all.
struct ApiListen {
  std::string http;
  std::string grpc;
};

// InvalidArgument: an address that is none, or one beyond loopback, since the API speaks plain
// text.
Status CheckApiListen(const ApiListen& listen);

class ApiServer {
 public:
  // Readers get this long to take the last event of a run.
  static constexpr Duration kFinishWait = 1s;

  // Listens at once. `loop` outlives the server, and so does what `results` refers to.
  // The errors of CheckApiListen; Unavailable: an address that cannot be bound.
  static StatusOr<std::unique_ptr<ApiServer>> Listen(EventLoop& loop, ResultsDeps results,
                                                     const ApiListen& listen);
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  // "127.0.0.1:7420", with the port that was given or found; empty: not listened on.
  std::string http_address() const;
  std::string grpc_address() const;

  // Something happened to the run: who watches it hears of it now.
  void Look();
  // The process is about to end: tells who watches the last state of their run, or `status` if the
  // run is not over, and calls `done` once they have it, after kFinishWait at the latest.
  void Finish(const Status& status, std::function<void()> done);

 private:
  class Impl;
  explicit ApiServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
