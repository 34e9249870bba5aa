#include "common/corpus/in_flight.h"

#include <algorithm>

namespace plimsoll {

InFlight InFlightOf(const std::vector<std::pair<Duration, Duration>>& calls) {
  std::vector<std::pair<Duration, int>> changes;
  changes.reserve(calls.size() * 2);
  for (const auto& [begin, length] : calls) {
    if (length <= Duration{0}) continue;
    changes.emplace_back(begin, +1);
    changes.emplace_back(begin + length, -1);
  }
  std::sort(changes.begin(), changes.end());  // Ends before starts.
  InFlight result;
  std::int64_t now = 0;
  Duration since{0};
  for (const auto& [at, change] : changes) {
    if (now > 0) {
      const double s = ToSeconds(at - since);
      const auto n = static_cast<double>(now);
      result.busy_s += s;
      result.in_flight_s += n * s;
      result.in_flight_sq_s += n * n * s;
    }
    since = at;
    now += change;
    result.peak = std::max(result.peak, static_cast<std::uint32_t>(std::max<std::int64_t>(0, now)));
  }
  return result;
}

}  // namespace plimsoll
