// The failure policy's arithmetic (design section 2): what ends a play, and how long a lane stays
// silent after a failure. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/rng.h"
#include "common/plan/plan.h"
#include "common/record/outcome.h"

namespace plimsoll {

// Whether the play is over when a call that ended so is not tried again. A cut was our own end.
constexpr bool EndsPlay(const FailurePolicy& policy, Outcome outcome) {
  return outcome == Outcome::kCut || policy.end_play.Contains(outcome);
}

// How long the lane, or the call's stream, sends nothing after the lane's `failures`-th failure in
// a row (from 1). The server's Retry-After counts where the policy honours it, but never less than
// back_off_min; else (negative: there was none) the wait doubles from back_off_min to back_off_max,
// stretched by up to a quarter from `key`, so that lanes do not return together.
inline Duration BackOff(const FailurePolicy& policy, std::uint32_t failures, Duration retry_after,
                        std::uint64_t key) {
  const bool honoured = policy.honour_retry_after && retry_after >= Duration{0} &&
                        retry_after <= policy.retry_after_max;
  if (honoured) return std::max(retry_after, policy.back_off_min);
  const std::uint32_t doublings = std::min<std::uint32_t>(failures == 0 ? 0 : failures - 1, 20);
  const Duration base =
      std::min(policy.back_off_min * (std::int64_t{1} << doublings), policy.back_off_max);
  return base + FromSeconds(ToSeconds(base) * 0.25 * Rng(key).Uniform());
}

}  // namespace plimsoll
