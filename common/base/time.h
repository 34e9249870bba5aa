// Durations and instants. A monotonic instant and a wall-clock one are different types that do not
// mix, and neither has a now(): only a Clock can produce one.
#pragma once

#include <chrono>
#include <cstdint>

namespace plimsoll {

using Duration = std::chrono::nanoseconds;

struct MonoTag {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  static constexpr bool is_steady = true;
};
struct WallTag {
  using duration = Duration;
  using rep = Duration::rep;
  using period = Duration::period;
  static constexpr bool is_steady = false;
};

// An instant on one process's monotonic clock: for every latency and every deadline. Instants of
// two machines are never subtracted; see agent/control for how a common start is agreed.
using MonoTime = std::chrono::time_point<MonoTag, Duration>;
// An instant people read (nanoseconds since 1970 UTC): for labels only.
using WallTime = std::chrono::time_point<WallTag, Duration>;

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ns;

// Divided, not multiplied by 1e-9: whole seconds stay whole, and 5.3 s is the double that prints
// so.
constexpr double ToSeconds(Duration d) {
  return static_cast<double>(d.count()) / 1e9;
}
constexpr Duration FromSeconds(double seconds) {
  return Duration(static_cast<Duration::rep>(seconds * 1e9 + (seconds < 0 ? -0.5 : 0.5)));
}
constexpr Duration FromMillis(std::int64_t ms) {
  return std::chrono::milliseconds(ms);
}

}  // namespace plimsoll
