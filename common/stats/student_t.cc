#include "common/stats/student_t.h"

#include <limits>

#include <boost/math/distributions/students_t.hpp>

#include "common/stats/quiet_policy.h"

namespace plimsoll {

double StudentTQuantile(double p, double degrees) {
  if (!(p > 0 && p < 1 && degrees > 0)) return std::numeric_limits<double>::quiet_NaN();
  const boost::math::students_t_distribution<double, QuietPolicy> t(degrees);
  return boost::math::quantile(t, p);
}

}  // namespace plimsoll
