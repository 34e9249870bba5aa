#include "coordinator/judge/proportion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "common/stats/clopper_pearson.h"
#include "common/stats/student_t.h"
#include "coordinator/judge/spread.h"

namespace plimsoll {
namespace {

constexpr std::size_t kLanesForClusters = 3;
constexpr std::uint64_t kRunCalls = 20;

struct Counts {
  double n = 0;
  double hits = 0;
};

struct Sample {
  double n = 0;
  double hits = 0;
  std::size_t lanes = 0;
  std::vector<Counts> cells;     // Of a lane and a whole block.
  std::vector<Counts> clusters;  // Lanes or runs.
  double share() const { return n > 0 ? hits / n : 0; }
};

void Add(Counts& to, const Counts& what) {
  to.n += what.n;
  to.hits += what.hits;
}

// Runs of at least kRunCalls out of one lane's cells, in order of blocks.
void AppendRuns(const std::vector<Counts>& lane, std::vector<Counts>& runs) {
  const std::size_t first = runs.size();
  Counts open;
  for (const Counts& cell : lane) {
    Add(open, cell);
    if (open.n >= static_cast<double>(kRunCalls)) {
      runs.push_back(open);
      open = {};
    }
  }
  if (open.n == 0) return;
  if (open.n * 2 >= static_cast<double>(kRunCalls) || runs.size() == first) {
    runs.push_back(open);
  } else {
    Add(runs.back(), open);
  }
}

Sample Gather(const std::vector<ShareCell>& cells) {
  std::map<std::uint32_t, std::map<std::uint32_t, Counts>> by_lane;
  Sample sample;
  for (const ShareCell& cell : cells) {
    if (cell.n == 0) continue;
    const Counts counts{.n = static_cast<double>(cell.n),
                        .hits = static_cast<double>(std::min(cell.n, cell.hits))};
    Add(by_lane[cell.lane][cell.block], counts);
    sample.n += counts.n;
    sample.hits += counts.hits;
  }
  sample.lanes = by_lane.size();
  for (const auto& [lane, blocks] : by_lane) {
    std::vector<Counts> in_order;
    Counts whole;
    for (const auto& [block, counts] : blocks) {
      in_order.push_back(counts);
      Add(whole, counts);
    }
    sample.cells.insert(sample.cells.end(), in_order.begin(), in_order.end());
    if (sample.lanes >= kLanesForClusters) {
      sample.clusters.push_back(whole);
    } else {
      AppendRuns(in_order, sample.clusters);
    }
  }
  return sample;
}

std::vector<double> ResidualsAt(const std::vector<Counts>& groups, double p) {
  std::vector<double> residuals;
  residuals.reserve(groups.size());
  for (const Counts& group : groups) residuals.push_back(group.hits - group.n * p);
  return residuals;
}

// Σ over groups of (hits − n·p)².
double SpreadAt(const std::vector<Counts>& groups, double p) {
  return SquaresOf(ResidualsAt(groups, p));
}

double DesignEffect(const Sample& sample, double spread) {
  const double binomial = sample.n * sample.share() * (1 - sample.share());
  return binomial > 0 ? std::max(1.0, spread / binomial) : 1.0;
}

// Of the share's numerator; 0 degrees: the clusters, or their times, are too few to tell.
VarianceTerm SpreadOf(const Sample& sample, const std::vector<ShareCell>& cells,
                      Duration half_block) {
  const double p = sample.share();
  const VarianceTerm clusters{.variance = SpreadAt(sample.clusters, p),
                              .degrees = static_cast<double>(sample.clusters.size()) - 1};
  if (sample.clusters.size() < 2) return {0, 0};
  // Neighbouring runs of a lane often belong to one session: they count as half as many.
  if (sample.lanes < kLanesForClusters) {
    return {clusters.variance, std::max(1.0, clusters.degrees / 2)};
  }
  const VarianceTerm together = Together(ResidualsByLane(cells, half_block, p));
  if (!(together.degrees > 0)) return {clusters.variance, 0};
  if (!(together.variance > 0)) return clusters;
  return {clusters.variance + together.variance, SatterthwaiteDegrees({clusters, together})};
}

// The p with (s − p)² <= t²/N · p(1−p), t²/N > 0: Wilson's interval.
Interval FromVarianceAtP(double share, double effective, double t) {
  const double c = t * t / effective;
  const double middle = (share + c / 2) / (1 + c);
  const double half = std::sqrt(c * share * (1 - share) + c * c / 4) / (1 + c);
  return {.low = middle - half, .high = middle + half};
}

// The p with (s − p)² <= t²/N · s(1−s).
Interval FromVarianceAsSeen(double share, double effective, double t) {
  const double half = t * std::sqrt(share * (1 - share) / effective);
  return {.low = share - half, .high = share + half};
}

// Whether q is rejected where all calls are on one side, whichever it is.
bool ExtremesReject(double q, std::vector<ShareCell> cells, Duration half_block) {
  for (ShareCell& cell : cells) cell.hits = 0;
  if (!(ShareOf(cells, {.half_block = half_block}).high < q)) return false;
  for (ShareCell& cell : cells) cell.hits = cell.n;
  return ShareOf(cells, {.half_block = half_block}).low > q;
}

ShareInterval Begin(const Sample& sample) {
  return {.n = static_cast<std::uint64_t>(sample.n),
          .hits = static_cast<std::uint64_t>(sample.hits),
          .share = sample.share(),
          .clusters = static_cast<std::uint32_t>(sample.clusters.size())};
}

}  // namespace

ShareInterval ShareOf(const std::vector<ShareCell>& cells, const Confidence& confidence) {
  const Sample sample = Gather(cells);
  ShareInterval result = Begin(sample);
  const VarianceTerm spread = SpreadOf(sample, cells, confidence.half_block);
  result.design_effect = DesignEffect(sample, spread.variance);
  if (!(spread.degrees > 0)) return result;

  result.degrees = std::max(confidence.degrees_min, spread.degrees);
  const double t = StudentTQuantile(1 - confidence.tail, result.degrees);
  const double effective = sample.n / result.design_effect;
  const Interval at_p = FromVarianceAtP(sample.share(), effective, t);
  const Interval as_seen = FromVarianceAsSeen(sample.share(), effective, t);
  result.low = std::clamp(std::min(at_p.low, as_seen.low), 0.0, result.share);
  result.high = std::clamp(std::max(at_p.high, as_seen.high), result.share, 1.0);
  return result;
}

ShareInterval SmallShareOf(const std::vector<ShareCell>& cells, double tail) {
  const Sample sample = Gather(cells);
  ShareInterval result = Begin(sample);
  if (sample.n == 0) return result;
  result.design_effect = DesignEffect(sample, std::max(SpreadAt(sample.clusters, sample.share()),
                                                       SpreadAt(sample.cells, sample.share())));
  double effective = sample.n / result.design_effect;
  if (sample.clusters.size() < kLanesForClusters) {
    effective = std::min(effective, static_cast<double>(sample.clusters.size()));
  }
  const Interval interval = ClopperPearson(sample.share() * effective, effective, 1 - 2 * tail);
  result.low = interval.low;
  result.high = interval.high;
  return result;
}

QuantileBand BandOf(double quantile, const std::vector<ShareCell>& cells, Duration half_block) {
  const Sample sample = Gather(cells);
  if (!(quantile > 0 && quantile < 1) || sample.n == 0) return {};
  QuantileBand band;
  const bool two_sided = sample.hits > 0 && sample.hits < sample.n;
  const VarianceTerm spread = SpreadOf(sample, cells, half_block);
  if (two_sided && spread.degrees > 0) {
    const double t = StudentTQuantile(1 - kTail, spread.degrees);
    const double effective = sample.n / DesignEffect(sample, spread.variance);
    const double half = t * std::sqrt(quantile * (1 - quantile) / effective);
    band = {.low = quantile - half, .high = quantile + half};
  }
  // Half a call, so that rounding decides nothing.
  const double first = 0.5 / sample.n;
  const bool within = band.low >= first && band.high <= 1 - first;
  if (within || !ExtremesReject(quantile, cells, half_block)) return band;
  return {.low = std::max(band.low, first), .high = std::min(band.high, 1 - first)};
}

SideOf Compare(const ShareInterval& interval, double limit, Side good) {
  if (std::isnan(limit)) return {};
  if (interval.low > limit) return {.side = Side::kAbove};
  if (interval.high < limit) return {.side = Side::kBelow};
  if (interval.n == 0) return {};
  const bool on_good_side =
      good == Side::kAbove ? interval.share >= limit : interval.share <= limit;
  return {.side = Side::kCrosses, .lean = on_good_side ? Lean::kPass : Lean::kFail};
}

std::uint64_t FewestForQuantile(double q) {
  if (!(q > 0 && q < 1)) return 0;
  const double fewest = std::ceil(std::log(kTail) / std::log(std::max(q, 1 - q)));
  // A quantile so extreme that no run could hold the calls; the logarithm may have vanished.
  if (!(fewest > 0 && fewest < 1e15)) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(fewest);
}

}  // namespace plimsoll
