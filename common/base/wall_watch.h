// Watches the wall clock against the monotonic one: whoever sets a clock, or stops a machine and
// lets it go on, shows here.
#pragma once

#include "common/base/clock.h"

namespace plimsoll {

class WallWatch {
 public:
  // `clock` outlives it. Begins as after Reset().
  explicit WallWatch(const Clock& clock);

  // From now on.
  void Reset();
  // Compares the clocks now; a step that is taken back between two looks is not seen.
  void Look();
  // How far the wall clock had moved ahead of the monotonic one since Reset(), at the look at which
  // it was the furthest, of either sign; a day at most.
  Duration moved() const { return moved_; }

 private:
  Duration Apart() const;

  const Clock& clock_;
  Duration apart_{};
  Duration moved_{};
};

}  // namespace plimsoll
