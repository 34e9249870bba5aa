#include "common/stats/beta.h"

#include <limits>

#include <boost/math/special_functions/beta.hpp>

#include "common/stats/quiet_policy.h"

namespace plimsoll {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool AreParameters(double a, double b) {
  return a > 0 && b > 0 && a < std::numeric_limits<double>::infinity() &&
         b < std::numeric_limits<double>::infinity();
}

}  // namespace

double RegularizedBeta(double a, double b, double x) {
  if (!AreParameters(a, b) || !(x >= 0 && x <= 1)) return kNaN;
  return boost::math::ibeta(a, b, x, QuietPolicy());
}

double RegularizedBetaInverse(double a, double b, double p) {
  if (!AreParameters(a, b) || !(p >= 0 && p <= 1)) return kNaN;
  return boost::math::ibeta_inv(a, b, p, QuietPolicy());
}

}  // namespace plimsoll
