// How likely a step of so many calls is to decide: the chance that a deployment 20% better than the
// bar reads pass, and one 20% worse fail (docs/statistics.md, "Before a window is spent"). From the
// normal approximation that `check`'s interval widths rest on, and an assumed spread. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "common/stats/clopper_pearson.h"
#include "coordinator/judge/bar.h"

namespace plimsoll {

// Assumed of how much wider an interval is than independent calls would make it (the ratio of
// variances): calls of a session depend on each other, and so do calls of a minute.
inline constexpr double kDesignEffectAssumed = 2;

// By how much a recipe differs from the bar: its percentile, or its share of failures.
inline constexpr double kRecipeApart = 0.2;

// Assumed spread of one deployment's calls: the logarithm of a time is a call's, its session's and
// the engine's drift, each normal, and some calls start cold. Design section 8's figures.
inline constexpr double kSigmaCall = 0.5;
inline constexpr double kSigmaSession = 0.6;
inline constexpr double kSigmaDrift = 0.25;
inline constexpr double kColdShare = 0.06;
inline constexpr double kColdFactor = 3.3;

// Share of calls within `limit` (errors: of failed ones) of a deployment that is better than it
// asks by `apart`, in (-1, 1); negative: worse. 0.2 is a TTFT of 0.8 times the limit at the limit's
// percentile, 1.2 times as many tokens/s, 0.8 times as many failures. `edge`: the share within it
// instead, of the same deployment; a share of failures is the same at any.
double ShareWithin(const Limit& limit, double apart, std::optional<double> edge = std::nullopt);

struct Chances {
  double better_passes = 0;
  double worse_fails = 0;
};
// For `calls` > 0 and the shares that would read too close: the share seen is taken as normal
// around the true one, with the design effect's variance, and decides where it lies outside of
// them. Of a limit with an interval of its own a pass asks for the share within its stricter edge,
// a fail for that within its looser one.
Chances ChancesOfDecision(const Limit& limit, std::uint64_t calls, const Interval& close);

}  // namespace plimsoll
