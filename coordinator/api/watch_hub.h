// WatchHub: who watches which run, and what each is sent. Looks at the run about once a second
// while anybody watches, and at once when told to. A reader that lags is not waited for: it misses
// live statuses, never steps; one that takes nothing for half a minute is cut.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/scheduler.h"
#include "common/base/status.h"
#include "coordinator/api/results.h"

namespace plimsoll::v1 {
class RunEvent;
}

namespace plimsoll {

// One reader's end: a gRPC stream or an HTTP answer. Nothing of the hub is called from inside it.
class WatchSink {
 public:
  virtual ~WatchSink() = default;
  virtual void Send(const v1::RunEvent& event) = 0;
  // A sign of life where there is nothing to say.
  virtual void KeepAlive() = 0;
  // What was sent has not all been taken.
  virtual bool lagging() const = 0;
  // The last call. OK: the run is over and everything was said. What was sent is still delivered.
  virtual void End(const Status& status) = 0;
  // The last call, instead: the reader takes nothing.
  virtual void Cut() = 0;
};

// On the scheduler's thread.
class WatchHub {
 public:
  static constexpr std::size_t kWatchesMax = 64;
  static constexpr Duration kPeriod = 1s;
  static constexpr Duration kLagMax = 30s;
  static constexpr Duration kKeepAlive = 10s;
  // A store that cannot be read is tried so often before its watchers are told.
  static constexpr int kFailuresMax = 5;

  using WatchId = std::uint64_t;

  // Both outlive the hub.
  WatchHub(Scheduler& scheduler, const Results& results);
  ~WatchHub();

  // Sends the first event at once, and of a run that is over also ends the sink. The errors of
  // Results::Get, and ResourceExhausted; the sink is then not called.
  StatusOr<WatchId> Add(std::string_view id_start, std::shared_ptr<WatchSink> sink);
  // The reader has gone; nothing is called any more. An id that is gone already is ignored.
  void Remove(WatchId id);
  // Something happened: looks now instead of at the next second.
  void Look();
  // The server goes: everybody is told, and the last state of their run first, if it can be read.
  void EndAll(const Status& status);
  std::size_t size() const { return watches_.size(); }

 private:
  struct Watch {
    std::string run;
    std::shared_ptr<WatchSink> sink;  // Shared with the connection that it writes to.
    std::size_t steps_sent = 0;
    bool preflight_sent = false;
    int failures = 0;
    MonoTime said{};                    // When something was sent last.
    std::optional<MonoTime> lags_from;  // Since then without a break.
  };

  // False: the watch is over.
  bool Show(Watch& watch, const StatusOr<RunView>& view);
  bool ShowProgress(Watch& watch, const RunView& view);
  bool HasLagged(Watch& watch);
  void Arm();

  Scheduler& scheduler_;
  const Results& results_;
  std::map<WatchId, Watch> watches_;
  WatchId next_ = 1;
  Timer tick_;
};

}  // namespace plimsoll
