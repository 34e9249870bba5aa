// A Clock over another one whose wall clock somebody sets: what is monotonic goes on as it was.
#pragma once

#include "common/base/clock.h"

namespace plimsoll {

class SteppingClock final : public Clock {
 public:
  explicit SteppingClock(const Clock& base) : base_(base) {}

  // From now on the wall clock is so much further than it was; negative: back.
  void Set(Duration by) { ahead_ += by; }

  MonoTime MonoNow() const override { return base_.MonoNow(); }
  WallTime WallNow() const override { return base_.WallNow() + ahead_; }

 private:
  const Clock& base_;
  Duration ahead_{};
};

}  // namespace plimsoll
