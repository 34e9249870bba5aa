// The regularised incomplete beta function and its inverse.
#pragma once

namespace plimsoll {

// I_x(a, b) = P(X <= x) for X ~ Beta(a, b); a, b > 0, 0 <= x <= 1. NaN for anything else.
double RegularizedBeta(double a, double b, double x);

// The x with I_x(a, b) = p; a, b > 0, 0 <= p <= 1. NaN for anything else.
double RegularizedBetaInverse(double a, double b, double p);

}  // namespace plimsoll
