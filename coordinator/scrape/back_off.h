// How long a target that failed is left alone. Pure.
#pragma once

#include <algorithm>

#include "common/base/time.h"

namespace plimsoll {

// A server that comes back is seen again at the latest so long after it did: a step has minutes.
inline constexpr Duration kBackOffMax = 10s;

// From the end of an exchange that failed to the next one's begin, after so many failures in a row,
// at least one: `every`, twice that, four times, … at most kBackOffMax, or `every` if that is
// longer.
constexpr Duration BackOff(Duration every, unsigned failures) {
  Duration wait = every;
  for (unsigned i = 1; i < failures && wait < kBackOffMax; ++i) wait *= 2;
  return std::max(every, std::min(wait, kBackOffMax));
}

}  // namespace plimsoll
