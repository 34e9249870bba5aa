#include "tests/sim/calibration/score_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plimsoll {
namespace {

const MetricTraits& TraitsOf(CalibratedPart part) {
  return plimsoll::TraitsOf(part == CalibratedPart::kTtft ? Metric::kTtft : Metric::kInteractivity);
}

bool Within(float value, CalibratedPart part, double limit) {
  return part == CalibratedPart::kTtft ? value <= limit : value >= limit;
}

// Best first; +infinite times and rates of 0 last.
std::vector<float> Ranked(const SimulatedStep& step, CalibratedPart part) {
  std::vector<float> values;
  for (const SimulatedCall& call : step.calls) {
    if (const float value = ValueOf(call, part); !std::isnan(value)) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  if (part != CalibratedPart::kTtft) std::reverse(values.begin(), values.end());
  return values;
}

// How many of `ranked` are as good as `value` or better.
std::size_t AsGood(const std::vector<float>& ranked, float value, CalibratedPart part) {
  const bool low = part == CalibratedPart::kTtft;
  const auto end = std::upper_bound(ranked.begin(), ranked.end(), value,
                                    [low](float a, float b) { return low ? a < b : a > b; });
  return static_cast<std::size_t>(end - ranked.begin());
}

// The percentile of what `all` holds besides `own`.
double PercentileOfOthers(const std::vector<float>& all, const std::vector<float>& own,
                          CalibratedPart part, double quantile) {
  const std::size_t others = all.size() - own.size();
  if (others == 0) return std::numeric_limits<double>::quiet_NaN();
  const auto rank = static_cast<std::size_t>(
      std::max(1.0, std::ceil(quantile * static_cast<double>(others) - 1e-6)));
  // The best value of `all` with at least `rank` of the others as good.
  std::size_t low = rank - 1;
  std::size_t high = all.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::size_t as_good = AsGood(all, all[middle], part) - AsGood(own, all[middle], part);
    if (as_good >= rank) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return all[low];
}

Verdict VerdictOf(const ShareInterval& interval, double quantile) {
  const Side side = Compare(interval, quantile, Side::kAbove).side;
  return side == Side::kCrosses ? Verdict::kTooClose
         : side == Side::kAbove ? Verdict::kPass
                                : Verdict::kFail;
}

}  // namespace

float ValueOf(const SimulatedCall& call, CalibratedPart part) {
  return part == CalibratedPart::kTtft ? call.ttft_s : call.rate_tok_s;
}

std::vector<ShareCell> CellsAt(const SimulatedStep& step, CalibratedPart part, double limit) {
  std::vector<ShareCell> cells;
  for (const SimulatedCall& call : step.calls) {
    const float value = ValueOf(call, part);
    if (std::isnan(value)) continue;
    if (cells.empty() || cells.back().lane != call.lane || cells.back().block != call.block ||
        cells.back().half != call.half) {
      cells.push_back({.lane = call.lane, .block = call.block, .half = call.half});
    }
    ++cells.back().n;
    cells.back().hits += Within(value, part, limit) ? 1 : 0;
  }
  return cells;
}

PathValues ValuesOf(const std::vector<SimulatedStep>& replicates, CalibratedPart part,
                    double quantile) {
  PathValues path;
  std::vector<std::vector<float>> ranked;
  std::vector<float> all;
  for (const SimulatedStep& step : replicates) {
    const std::vector<float>& own = ranked.emplace_back(Ranked(step, part));
    all.insert(all.end(), own.begin(), own.end());
    Histogram values;
    std::uint64_t valueless = 0;
    for (const float value : own) {
      if (part == CalibratedPart::kTtft ? std::isinf(value) : value == 0) {
        ++valueless;
      } else {
        values.Record(std::llround(static_cast<double>(value) * TraitsOf(part).per_unit));
      }
    }
    path.values.push_back(std::move(values));
    path.valueless.push_back(valueless);
  }
  std::sort(all.begin(), all.end());
  if (part != CalibratedPart::kTtft) std::reverse(all.begin(), all.end());
  for (const std::vector<float>& own : ranked) {
    path.truths.push_back(PercentileOfOthers(all, own, part, quantile));
  }
  return path;
}

ValueInterval IntervalOfValue(const SimulatedStep& step, CalibratedPart part, const Limit& limit,
                              const std::vector<ShareCell>& cells, const ShareInterval& interval,
                              const Histogram& values, std::uint64_t valueless,
                              Duration half_block) {
  std::array<std::uint64_t, kThresholds> hits{};
  for (const SimulatedCall& call : step.calls) {
    const float value = ValueOf(call, part);
    if (std::isnan(value)) continue;
    for (std::size_t i = 0; i < kThresholds; ++i) {
      hits[i] += Within(value, part, limit.value * kThresholdFactors[i]) ? 1 : 0;
    }
  }
  const std::size_t nearest = NearestThreshold(limit.quantile, interval.n, hits).value_or(kAtLimit);
  const QuantileBand band = BandOf(
      limit.quantile,
      nearest == kAtLimit ? cells : CellsAt(step, part, limit.value * kThresholdFactors[nearest]),
      half_block);
  return Settled(ValuesAt(TraitsOf(part), values, valueless, band),
                 VerdictOf(interval, limit.quantile), limit);
}

bool Contains(const ValueInterval& interval, double value) {
  const auto place = [](const ShownPercentile& end, double open) {
    if (end.infinite) return std::numeric_limits<double>::infinity();
    return end.value.value_or(open);
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return place(interval.low, -kInf) <= value && value <= place(interval.high, kInf);
}

}  // namespace plimsoll
