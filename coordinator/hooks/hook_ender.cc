#include "coordinator/hooks/hook_ender.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <signal.h>

#include "coordinator/hooks/file_lock.h"

namespace plimsoll {
namespace {

constexpr Duration kFirstPause = 10ms;
constexpr Duration kLongestPause = 500ms;
// One look goes through the list of processes from its start to its end; what was born behind it
// is seen by the next.
constexpr int kCleanLooks = 2;

}  // namespace

void HookEnder::End(std::function<void(bool)> done) {
  done_ = std::move(done);
  kill_at_ = scheduler_.Now() + kill_after_;
  pause_ = kFirstPause;
  clean_ = 0;
  any_ = false;
  asked_.clear();
  next_ = scheduler_.After(Duration{}, [this] { Look(); });
}

void HookEnder::Look() {
  const std::vector<int> pids = ProcessesOn(trail_);
  // A lock that cannot be looked at is not known to be free.
  const auto held = FileLock::Held(trail_.lock_path);
  if (pids.empty() && held.ok() && !*held) {
    if (++clean_ >= kCleanLooks) {
      const auto done = std::exchange(done_, nullptr);
      return done(any_);
    }
    next_ = scheduler_.After(Duration{}, [this] { Look(); });
    return;
  }
  clean_ = 0;
  any_ = true;
  if (scheduler_.Now() >= kill_at_) {
    SignalProcesses(trail_, pids, SIGKILL);
  } else {
    std::vector<int> fresh;
    for (const int pid : pids) {
      if (asked_.insert(pid).second) fresh.push_back(pid);
    }
    SignalProcesses(trail_, fresh, SIGTERM);
  }
  pause_ = std::min(pause_ * 2, kLongestPause);
  Duration wait = pause_;
  if (scheduler_.Now() < kill_at_) wait = std::min(wait, kill_at_ - scheduler_.Now());
  next_ = scheduler_.After(wait, [this] { Look(); });
}

}  // namespace plimsoll
