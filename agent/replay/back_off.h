// The failure policy's arithmetic (design section 2): which failures are tried again, and how long
// a lane stays silent after one. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/rng.h"
#include "common/plan/plan.h"
#include "common/record/outcome.h"

namespace plimsoll {

// Context overflow cannot succeed on a second try, and a cut call was ended by us.
constexpr bool MayRetry(Outcome outcome) {
  return outcome != Outcome::kOk && outcome != Outcome::kContextOverflow &&
         outcome != Outcome::kCut;
}

// How long the whole lane sends nothing after its `failures`-th failure in a row (from 1). The
// server's Retry-After counts, but never less than back_off_min; without one (negative) the wait
// doubles from back_off_min to back_off_max, stretched by up to a quarter from `key`, so that lanes
// do not return together.
inline Duration BackOff(const FailurePolicy& policy, std::uint32_t failures, Duration retry_after,
                        std::uint64_t key) {
  if (retry_after >= Duration{0}) return std::max(retry_after, policy.back_off_min);
  const std::uint32_t doublings = std::min<std::uint32_t>(failures == 0 ? 0 : failures - 1, 20);
  const Duration base =
      std::min(policy.back_off_min * (std::int64_t{1} << doublings), policy.back_off_max);
  return base + FromSeconds(ToSeconds(base) * 0.25 * Rng(key).Uniform());
}

}  // namespace plimsoll
