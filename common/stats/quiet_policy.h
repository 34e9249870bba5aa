// How Boost.Math is called in this folder, and nowhere else: no exceptions, no promotion to long
// double (slow, and a sixteenth digit is of no use to a verdict). Included by .cc files only.
#pragma once

#include <boost/math/policies/policy.hpp>

namespace plimsoll {

namespace quiet_policy_internal {
namespace bp = boost::math::policies;
using Policy =
    bp::policy<bp::domain_error<bp::ignore_error>, bp::pole_error<bp::ignore_error>,
               bp::overflow_error<bp::ignore_error>, bp::underflow_error<bp::ignore_error>,
               bp::denorm_error<bp::ignore_error>, bp::rounding_error<bp::ignore_error>,
               bp::evaluation_error<bp::ignore_error>,
               bp::indeterminate_result_error<bp::ignore_error>, bp::promote_double<false>>;
}  // namespace quiet_policy_internal

using QuietPolicy = quiet_policy_internal::Policy;

}  // namespace plimsoll
