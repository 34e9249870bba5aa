// The operating system's clocks as a Clock. real_clock.cc is the only file that reads them.
#pragma once

#include "common/base/clock.h"

namespace plimsoll {

class RealClock final : public Clock {
 public:
  MonoTime MonoNow() const override;
  WallTime WallNow() const override;
};

}  // namespace plimsoll
