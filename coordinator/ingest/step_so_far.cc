#include "coordinator/ingest/step_so_far.h"

#include <algorithm>
#include <list>
#include <utility>

#include "common/stats/histogram_sum.h"

namespace plimsoll {
namespace {

// All calls of one metric, or one tier's.
struct Summed {
  Metric metric = Metric::kTtft;
  std::string tier;
  std::uint64_t n = 0;
  Histogram values;
  std::uint64_t valueless() const { return n - std::min(n, values.count()); }
};

bool Counts(const Limit& limit, const Cell& cell, const std::vector<std::string>& tier_names) {
  return limit.tier.empty() || TierOf(limit, tier_names) == cell.counts.tier;
}

// Of a metric of calls; each metric and tier is summed once.
const Summed& SummedOf(const Limit& limit, const std::vector<Cell>& cells,
                       const std::vector<std::string>& tier_names, std::list<Summed>* done) {
  for (const Summed& summed : *done) {
    if (summed.metric == limit.metric && summed.tier == limit.tier) return summed;
  }
  const MetricTraits& traits = TraitsOf(limit.metric);
  Summed summed{.metric = limit.metric, .tier = limit.tier, .values = {}};
  HistogramSum sum;
  for (const Cell& cell : cells) {
    if (!Counts(limit, cell, tier_names)) continue;
    summed.n += cell.counts.*traits.n;
    sum.Add(cell.*traits.of_cell);
  }
  summed.values = sum.Take();
  return done->emplace_back(std::move(summed));
}

LimitSoFar BadShareSoFar(const Limit& limit, const std::vector<Cell>& cells,
                         const std::vector<std::string>& tier_names) {
  LimitSoFar part{.limit = limit, .value = {}};
  std::uint64_t bad = 0;
  for (const Cell& cell : cells) {
    if (!Counts(limit, cell, tier_names)) continue;
    const bool errors = limit.metric == Metric::kErrors;
    part.n += errors ? cell.counts.attempts : cell.counts.tool_answers;
    bad += errors ? cell.counts.failed : cell.counts.tool_invalid;
  }
  if (part.n > 0) part.value.value = static_cast<double>(bad) / static_cast<double>(part.n);
  return part;
}

}  // namespace

StepSoFar SoFar(const std::vector<Cell>& cells, const Bar& bar,
                const std::vector<std::string>& tier_names) {
  std::list<Summed> done;
  StepSoFar so_far;
  const Summed& ttft = SummedOf({.metric = Metric::kTtft}, cells, tier_names, &done);
  so_far.ttft_n = ttft.n;
  so_far.ttft_p90_ns = ttft.values.QuantileWithInfinite(0.9, ttft.valueless());
  const Summed& rate = SummedOf({.metric = Metric::kInteractivity}, cells, tier_names, &done);
  so_far.rate_n = rate.n;
  so_far.rate_p90_mtok_s = rate.values.ReachedByWithZeros(0.9, rate.valueless());
  for (const Limit& limit : bar.limits) {
    if (IsBadShare(limit.metric)) {
      so_far.parts.push_back(BadShareSoFar(limit, cells, tier_names));
      continue;
    }
    const Summed& summed = SummedOf(limit, cells, tier_names, &done);
    so_far.parts.push_back({.limit = limit,
                            .n = summed.n,
                            .value = ValueAt(TraitsOf(limit.metric), summed.values,
                                             summed.valueless(), limit.quantile)});
  }
  return so_far;
}

}  // namespace plimsoll
