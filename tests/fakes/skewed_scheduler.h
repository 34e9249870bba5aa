// A Scheduler whose clock lies a fixed offset from another's: one machine of a simulated fleet.
#pragma once

#include <utility>

#include "common/base/scheduler.h"

namespace plimsoll {

class SkewedScheduler final : public Scheduler {
 public:
  SkewedScheduler(Scheduler& base, Duration offset) : base_(base), offset_(offset) {}

  MonoTime Now() const override { return base_.Now() + offset_; }
  Timer At(MonoTime due, Task task) override { return base_.At(due - offset_, std::move(task)); }
  void Post(Task task) override { base_.Post(std::move(task)); }

 private:
  void CancelTimer(std::uint64_t) override {}  // Timers belong to the base.

  Scheduler& base_;
  const Duration offset_;
};

}  // namespace plimsoll
