// How many calls are in flight at once over a stretch of time. Pure.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/time.h"

namespace plimsoll {

struct InFlight {
  std::uint32_t peak = 0;
  double busy_s = 0;          // Time with at least one, …
  double in_flight_s = 0;     // … and over it the integral of their number, …
  double in_flight_sq_s = 0;  // … and of its square.
};

// Of calls as (begin, length). One that begins as another ends takes its place; one without length
// is never in flight.
InFlight InFlightOf(const std::vector<std::pair<Duration, Duration>>& calls);

}  // namespace plimsoll
