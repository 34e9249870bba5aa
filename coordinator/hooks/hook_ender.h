// Ends what is left of a run's hooks: SIGTERM, some seconds later SIGKILL, until none of them lives
// and the kernel says that nobody holds their lock.
#pragma once

#include <functional>
#include <set>

#include "common/base/scheduler.h"
#include "common/base/time.h"
#include "coordinator/hooks/process_table.h"

namespace plimsoll {

class HookEnder {
 public:
  // On the loop that is the scheduler. Only for who holds the run's intent.
  HookEnder(Scheduler& scheduler, HookTrail trail, Duration kill_after)
      : scheduler_(scheduler), trail_(std::move(trail)), kill_after_(kill_after) {}

  // `done(any)` once, in a later turn: whether there was anything to end. It waits as long as it
  // takes: of another user's process, or one that the kernel does not let go, the lock tells.
  // `done` may destroy the object. Not again before that.
  void End(std::function<void(bool any)> done);
  bool busy() const { return done_ != nullptr; }

 private:
  void Look();

  Scheduler& scheduler_;
  const HookTrail trail_;
  const Duration kill_after_;
  MonoTime kill_at_{};
  Duration pause_{};
  int clean_ = 0;
  bool any_ = false;
  std::set<int> asked_;  // Got their SIGTERM.
  Timer next_;
  std::function<void(bool)> done_;
};

}  // namespace plimsoll
