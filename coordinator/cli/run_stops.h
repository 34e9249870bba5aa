// What ends a run from outside beside signals: the kill switch's rules and its file, and requests
// of `plimsoll stop`. Looks several times a second, on the run's loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/scheduler.h"
#include "coordinator/killswitch/kill_switch_watch.h"
#include "coordinator/run/signal_feed.h"
#include "coordinator/scenario/kill_switch_spec.h"

namespace plimsoll {

class RunStops {
 public:
  struct Deps {
    Scheduler& scheduler;
    const SignalFeed* feed = nullptr;  // Null: no server is asked, and no rule can trip.
    std::string store;
    std::string run_id;
    std::function<bool()> load_began;  // The first step was prepared.
    std::function<void(const std::string&)> say;
    // Asked by `plimsoll stop`: 1 drains, 2 aborts, as signals do.
    std::function<void(int)> stop;
    // The kill switch; at most once.
    std::function<void(const std::string& reason)> trip;
  };

  // Watches until it is destroyed. What `deps` calls must not destroy it.
  RunStops(Deps deps, const std::optional<KillSwitchSpec>& kill_switch);

 private:
  void Look();
  void Trip(const std::string& reason);

  const Deps deps_;
  const std::string file_;  // Trips when it exists; empty: none.
  bool tripped_ = false;
  std::unique_ptr<KillSwitchWatch> rules_;
  Timer timer_;
};

}  // namespace plimsoll
