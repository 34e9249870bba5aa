// A Scheduler whose thread can stall: while it does, nothing that is due runs; all of it runs at
// the stall's end, in order. What a stopped process or a blocked loop is to the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "common/base/scheduler.h"

namespace plimsoll {

class StallingScheduler final : public Scheduler {
 public:
  explicit StallingScheduler(Scheduler& base) : base_(base) {}

  // From now on, for so long.
  void Stall(Duration length) { stalled_until_ = base_.Now() + length; }

  MonoTime Now() const override { return base_.Now(); }
  Timer At(MonoTime due, Task task) override { return Timer(this, Arm(due, std::move(task))); }
  void Post(Task task) override { Arm(base_.Now(), std::move(task)); }

 private:
  struct Entry {
    Task task;
    Timer timer;
  };

  std::uint64_t Arm(MonoTime due, Task task) {
    const std::uint64_t id = next_++;
    entries_[id] = {std::move(task), base_.At(due, [this, id] { Fire(id); })};
    return id;
  }
  void Fire(std::uint64_t id) {
    const auto entry = entries_.find(id);
    if (base_.Now() < stalled_until_) {
      entry->second.timer = base_.At(stalled_until_, [this, id] { Fire(id); });
      return;
    }
    const Task task = std::move(entry->second.task);
    entries_.erase(entry);
    task();
  }
  void CancelTimer(std::uint64_t id) override { entries_.erase(id); }

  Scheduler& base_;
  MonoTime stalled_until_{};
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace plimsoll
