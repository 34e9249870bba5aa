// Quantiles of Student's t distribution.
#pragma once

namespace plimsoll {

// The value t with P(T <= t) = p at `degrees` > 0 degrees of freedom (need not be whole), 0 < p
// < 1. NaN for anything else: a caller's NaN never compares, so it can only lead to "not rejected".
double StudentTQuantile(double p, double degrees);

}  // namespace plimsoll
