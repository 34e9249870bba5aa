// The Clopper-Pearson interval of a proportion: never covers less often than stated, at any n.
#pragma once

namespace plimsoll {

struct Interval {
  double low = 0;
  double high = 1;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Two-sided interval at `confidence` for `hits` of `trials` (Clopper, Pearson 1934, by beta
// quantiles). Both may be fractional, as counts divided by a design effect are (Korn, Graubard
// 1998); 0 <= hits <= trials. [0, 1] without trials or for senseless arguments, NaN included.
Interval ClopperPearson(double hits, double trials, double confidence = 0.95);

}  // namespace plimsoll
