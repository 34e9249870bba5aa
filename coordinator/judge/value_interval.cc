#include "coordinator/judge/value_interval.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plimsoll {
namespace {

double Logit(double share) {
  return std::log(share / (1 - share));
}

// Calls in the order of the metric, best first.
class Ranked {
 public:
  Ranked(const MetricTraits& traits, const Histogram& values, std::uint64_t valueless)
      : traits_(traits), values_(values), n_(values.count() + valueless) {}

  // Call number `rank` >= 1, rounded to the good side, or to the bad one. Nothing beyond all calls.
  ShownPercentile At(std::uint64_t rank, bool to_good_side) const {
    if (rank > n_) return {};
    if (rank > values_.count()) {
      if (traits_.at_most) return {.infinite = true};
      return {.value = 0.0};
    }
    const std::uint64_t from_other_end = values_.count() - rank + 1;
    const bool down = traits_.at_most == to_good_side;
    const std::int64_t value =
        down ? values_.LowestAtRankFromAbove(traits_.at_most ? from_other_end : rank)
             : values_.HighestAtRank(traits_.at_most ? rank : from_other_end);
    return {.value = static_cast<double>(value) / traits_.per_unit};
  }
  std::uint64_t n() const { return n_; }

 private:
  const MetricTraits& traits_;
  const Histogram& values_;
  const std::uint64_t n_;
};

}  // namespace

std::optional<std::size_t> NearestThreshold(double quantile, std::uint64_t n,
                                            const std::array<std::uint64_t, kThresholds>& hits) {
  std::optional<std::size_t> nearest;
  double least = 0;
  const auto look_at = [&](std::size_t threshold) {
    if (hits[threshold] == 0 || hits[threshold] >= n) return;
    const double at = Logit(static_cast<double>(hits[threshold]) / static_cast<double>(n));
    const double apart = std::abs(at - Logit(quantile));
    const double distance = std::abs(at) > std::abs(Logit(quantile)) ? 2 * apart : apart;
    if (nearest && !(distance < least)) return;
    nearest = threshold;
    least = distance;
  };
  look_at(kAtLimit);
  for (std::size_t i = 0; i < kThresholds; ++i) look_at(i);
  return nearest;
}

ValueInterval ValuesAt(const MetricTraits& traits, const Histogram& values, std::uint64_t valueless,
                       const QuantileBand& band) {
  const Ranked calls(traits, values, valueless);
  const auto n = static_cast<double>(calls.n());
  // At least n·low calls are as good as the percentile or better, at most n·high are better.
  ShownPercentile good;
  ShownPercentile bad;
  if (band.low > 0) {
    good = calls.At(static_cast<std::uint64_t>(std::max(1.0, std::ceil(band.low * n))), true);
  }
  if (band.high < 1) bad = calls.At(static_cast<std::uint64_t>(band.high * n) + 1, false);
  if (traits.at_most) return {.low = good, .high = bad};
  return {.low = bad, .high = good};
}

ValueInterval Settled(ValueInterval interval, Verdict verdict, const Limit& limit) {
  const bool at_most = TraitsOf(limit.metric).at_most;
  const double strict = StrictEdge(limit);
  const double loose = LooseEdge(limit);
  ShownPercentile& good = at_most ? interval.low : interval.high;
  ShownPercentile& bad = at_most ? interval.high : interval.low;
  const auto better = [at_most](const ShownPercentile& end, double than) {
    return end.value && (at_most ? *end.value < than : *end.value > than);
  };
  const auto worse = [at_most](const ShownPercentile& end, double than) {
    return end.infinite || (end.value && (at_most ? *end.value > than : *end.value < than));
  };
  const bool open_good = !good.value && !good.infinite;
  const bool open_bad = !bad.value && !bad.infinite;
  switch (verdict) {
    case Verdict::kPass:
      if (worse(good, strict)) good = {.value = strict};
      if (open_bad || worse(bad, strict)) bad = {.value = strict};
      break;
    case Verdict::kFail:
      if (open_good || better(good, loose)) good = {.value = loose};
      if (better(bad, loose)) bad = {.value = loose};
      break;
    case Verdict::kTooClose:
      if (worse(good, loose)) good = {.value = loose};
      if (better(bad, strict)) bad = {.value = strict};
      break;
    case Verdict::kNoData:
      break;
  }
  return interval;
}

}  // namespace plimsoll
