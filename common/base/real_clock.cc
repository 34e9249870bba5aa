#include "common/base/real_clock.h"

#include <chrono>

namespace plimsoll {

MonoTime RealClock::MonoNow() const {
  return MonoTime(
      std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch()));
}

WallTime RealClock::WallNow() const {
  return WallTime(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

}  // namespace plimsoll
