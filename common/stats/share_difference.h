// The difference of two shares, each of its own binomial draw: an exact unconditional test and the
// interval of its inversion. Never errs more often than stated, at any counts.
#pragma once

#include <cstdint>

#include "common/stats/clopper_pearson.h"

namespace plimsoll {

struct ShareCounts {
  std::uint64_t hits = 0;
  std::uint64_t trials = 0;
};

// Counts beyond this are thinned to it before a test or an interval, which only loses power.
inline constexpr std::uint64_t kShareTrialsMax = 500;

// The chance of a table as low in `a` or lower when share(a) − share(b) is `difference`, at the
// worst share(b): small means that the true difference is confidently below. Tables are ordered by
// the score statistic of Farrington and Manning (Statistics in Medicine 9, 1990), whose exact
// unconditional test is Chan's (Statistics in Medicine 17, 1998). For a true difference of at least
// `difference`, P(result <= x) <= x. 1 without trials on either side, for counts that are none, or
// a difference outside [−1, 1], NaN included.
double LowerDifferencePValue(ShareCounts a, ShareCounts b, double difference);

// Two-sided interval of share(a) − share(b) at `confidence`: the differences that neither the test
// nor its mirror image rejects at half of what is left (Chan and Zhang, Biometrics 55, 1999), ends
// rounded outwards by at most 0.0005. [−1, 1] where the test says 1.
Interval ShareDifferenceInterval(ShareCounts a, ShareCounts b, double confidence = 0.95);

}  // namespace plimsoll
