#include "common/stats/clopper_pearson.h"

#include "common/stats/beta.h"

namespace plimsoll {

Interval ClopperPearson(double hits, double trials, double confidence) {
  Interval interval;
  if (!(trials > 0 && hits >= 0 && hits <= trials && confidence > 0 && confidence < 1)) {
    return interval;
  }
  const double tail = (1 - confidence) / 2;
  const double misses = trials - hits;
  // At the ends the interval is one-sided: nothing is below no hits, nor above all.
  if (hits > 0) interval.low = RegularizedBetaInverse(hits, misses + 1, tail);
  if (misses > 0) interval.high = RegularizedBetaInverse(hits + 1, misses, 1 - tail);
  return interval;
}

}  // namespace plimsoll
