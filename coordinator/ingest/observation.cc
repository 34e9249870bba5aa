#include "coordinator/ingest/observation.h"

#include <algorithm>
#include <cmath>

#include "coordinator/judge/metrics.h"

namespace plimsoll {
namespace {

using Kind = Observation::Kind;

double EndToEndRate(const CallRecord& r) {
  if (r.last_token == kAbsentNanos || r.tokens_out == kAbsentTokens || OutputContradicted(r) ||
      r.last_token <= r.first_released) {
    return -1;
  }
  return static_cast<double>(r.tokens_out) * 1e9 /
         static_cast<double>(r.last_token - r.first_released);
}

// Negative: none.
Observation OfTime(StepNanos ns, bool ok) {
  if (ns < 0) return {.kind = ok ? Kind::kNone : Kind::kFailed};
  return {.kind = Kind::kValue, .value = static_cast<double>(ns), .kept = ns};
}

Observation OfRate(double rate, bool ok) {
  if (!(rate >= 0)) return {.kind = ok ? Kind::kNone : Kind::kFailed};
  // What no server can do is capped, far above any limit.
  const double thousandths = std::min(rate * 1000, 1e15);
  return {.kind = Kind::kValue, .value = rate, .kept = std::llround(thousandths)};
}

// A limit in the unit of Observation::value. Times are whole nanoseconds, as those of records are.
double InRecordUnit(const MetricTraits& traits, double limit) {
  if (!traits.at_most || !std::isfinite(limit)) return limit;
  return std::round(limit * 1e9);
}

}  // namespace

Observation Observe(Metric metric, const CallRecord& record) {
  if (record.outcome == Outcome::kClientError) return {};
  const bool ok = record.outcome == Outcome::kOk;
  switch (metric) {
    case Metric::kTtft:
      return OfTime(TtftNanos(record), ok);
    case Metric::kInteractivity:
      return OfRate(Interactivity(record), ok);
    case Metric::kEndToEndInteractivity:
      return OfRate(EndToEndRate(record), ok);
    case Metric::kGoodput:
      return OfTime(ok ? record.end - record.first_released : -1, ok);
    case Metric::kErrors:
    case Metric::kToolCalls:
      break;
  }
  return {};
}

PartCounter::PartCounter(const Limit& limit, const std::vector<std::string>& tier_names)
    : metric_(limit.metric),
      all_tiers_(limit.tier.empty()),
      tier_(TierOf(limit, tier_names)),
      at_most_(TraitsOf(limit.metric).at_most),
      strict_(InRecordUnit(TraitsOf(limit.metric), StrictEdge(limit))),
      loose_(InRecordUnit(TraitsOf(limit.metric), LooseEdge(limit))) {
  for (std::size_t i = 0; i < kThresholds; ++i) {
    thresholds_[i] = InRecordUnit(TraitsOf(metric_), limit.value * kThresholdFactors[i]);
  }
}

void PartCounter::Add(const Observation& observation, PartCounts* counts) const {
  if (observation.kind == Kind::kNone) return;
  ++counts->n;
  if (observation.kind == Kind::kFailed) return;
  if (Within(observation.value, thresholds_[kAtLimit])) ++counts->hits;
  for (std::size_t i = 0; i < counts->hits_at.size(); ++i) {
    const double threshold = thresholds_[i < kAtLimit ? i : i + 1];
    counts->hits_at[i] += Within(observation.value, threshold) ? 1 : 0;
  }
  if (Within(observation.value, strict_)) ++counts->hits_strict;
  if (Within(observation.value, loose_)) ++counts->hits_loose;
}

}  // namespace plimsoll
