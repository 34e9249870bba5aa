// The interval of a percentile itself, in its own unit, where proportion.h has that of a share. By
// Woodruff (1952): the share of calls that lies at the true percentile differs from q by no more
// than BandOf says, so the percentile lies between the step's percentiles at the band's two ends.
// Failed calls without a value are the worst there is: +infinity, or a rate of 0.
//
// How much calls depend on each other is learnt at a threshold near the percentile. The limit may
// be far from it, and then hardly a call is on one of its sides; so calls are counted at multiples
// of it too (kThresholdFactors), and the one whose share is nearest to q is taken. A share further
// out than q counts as twice as far: the fewer calls lie beyond a threshold, the less they seem to
// depend on each other, and the interval would be too narrow. Nearer to the middle it is too wide
// at most.
//
// An end is open where nothing measured bounds the percentile: one cluster, or so few calls that a
// limit which all of them keep would not pass. docs/statistics.md has the measured
// coverage. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

struct ValueInterval {
  ShownPercentile low;
  ShownPercentile high;
};

// Of the calls within each of kThresholdFactors times the limit: the place of the threshold whose
// share of `n` is nearest to `quantile` by logit (further out: twice that); the limit's own where
// that is as near as another. Nothing if no threshold has calls on both sides.
std::optional<std::size_t> NearestThreshold(double quantile, std::uint64_t n,
                                            const std::array<std::uint64_t, kThresholds>& hits);

// The percentiles of a step's or tier's calls at the ends of `band`, each rounded outward by the
// histogram's resolution.
ValueInterval ValuesAt(const MetricTraits& traits, const Histogram& values, std::uint64_t valueless,
                       const QuantileBand& band);

// What the verdict, an exact count at the limit, knows of the percentile beyond that: after a pass
// all of it lies on the good side of the limit's stricter edge, after a fail on the bad side of its
// looser one, and too close is around them. Moves the ends there, so that interval and verdict
// never contradict each other. Anything else leaves them.
ValueInterval Settled(ValueInterval interval, Verdict verdict, const Limit& limit);

}  // namespace plimsoll
