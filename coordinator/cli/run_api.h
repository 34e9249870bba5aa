// The results API of a run that goes on, and the file that says where it listens.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/status.h"
#include "common/loop/event_loop.h"
#include "coordinator/api/api_server.h"
#include "coordinator/cli/endpoint_file.h"
#include "coordinator/run/live_status.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {

class RunApi {
 public:
  // `live` costs a look at every cell of the step and is asked four times a second at most, however
  // many watch; nothing: the run has ended. All that is referred to outlives the object. Errors of
  // an address that cannot be bound and of the file.
  static StatusOr<std::unique_ptr<RunApi>> Listen(EventLoop& loop, RunRepo& repo,
                                                  const ApiListen& listen,
                                                  const std::string& store_folder,
                                                  const std::string& run_id,
                                                  std::function<std::optional<LiveStatus>()> live);
  // Use Listen().
  RunApi(EventLoop& loop, std::string run_id, std::function<std::optional<LiveStatus>()> live);

  // "results API on http://127.0.0.1:40123".
  std::string Words() const;
  // Something of the run changed: whoever watches hears of it now.
  void Changed();
  // Who watches hears how the run ended before the servers go: runs the loop until then.
  void End();

 private:
  std::optional<LiveRun> Live();

  EventLoop& loop_;
  const std::string run_id_;
  const std::function<std::optional<LiveStatus>()> live_;
  std::unique_ptr<ApiServer> server_;
  std::optional<EndpointFile> file_;
  std::optional<LiveStatus> status_;  // As of status_at_.
  MonoTime status_at_{};
};

}  // namespace plimsoll
