// Hands the servers' pages to the kill switch as they come, several times a second, and tells once
// that it tripped. Runs on one scheduler.
#pragma once

#include <functional>
#include <string>

#include "common/base/scheduler.h"
#include "coordinator/killswitch/kill_switch.h"
#include "coordinator/run/signal_feed.h"

namespace plimsoll {

class KillSwitchWatch {
 public:
  struct Deps {
    Scheduler& scheduler;
    const SignalFeed& feed;
    std::function<bool()> load_began;                 // The first step was prepared.
    std::function<void(const std::string&)> say;      // A line for people.
    std::function<void(const std::string&)> tripped;  // Once, with the reason.
  };

  // Looks from now on, until it tripped or is destroyed. All that `deps` names outlives it.
  // `tripped` must not destroy it.
  KillSwitchWatch(Deps deps, KillSwitchSpec spec);

 private:
  void Look();

  const Deps deps_;
  KillSwitch rules_;
  MonoTime looked_{};  // Pages until then were seen.
  Timer timer_;
};

}  // namespace plimsoll
