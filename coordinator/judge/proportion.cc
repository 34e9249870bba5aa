#include "coordinator/judge/proportion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "common/stats/clopper_pearson.h"
#include "common/stats/student_t.h"
#include "coordinator/judge/spread.h"

namespace plimsoll {
namespace {

constexpr std::size_t kLanesForClusters = 3;
constexpr std::uint64_t kRunCalls = 20;
// Residuals at p gathered by cluster grow with (s − p)² themselves, by t² · Σn²/N² of it: up to
// this share they leave room for a rejection. Lanes of equal weight meet it from eight on.
constexpr double kResidualShareMax = 0.7;

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
  std::vector<Counts> halves;    // All lanes together, from one half-block to the next.
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

std::vector<Counts> InOrder(
    const std::map<std::pair<std::uint32_t, std::uint8_t>, Counts>& by_half) {
  std::vector<Counts> halves;
  std::optional<std::uint32_t> block;
  for (const auto& [at, counts] : by_half) {
    // A half without a call is as empty as it was; blocks without any are left out.
    if (block != at.first) halves.resize(halves.size() + 2);
    block = at.first;
    halves[halves.size() - 2 + at.second] = counts;
  }
  return halves;
}

Sample Gather(const std::vector<ShareCell>& cells) {
  std::map<std::uint32_t, std::map<std::uint32_t, Counts>> by_lane;
  std::map<std::pair<std::uint32_t, std::uint8_t>, Counts> by_half;
  Sample sample;
  for (const ShareCell& cell : cells) {
    if (cell.n == 0) continue;
    const Counts counts{.n = static_cast<double>(cell.n),
                        .hits = static_cast<double>(std::min(cell.n, cell.hits))};
    Add(by_lane[cell.lane][cell.block], counts);
    Add(by_half[{cell.block, std::min<std::uint8_t>(cell.half, 1)}], counts);
    sample.n += counts.n;
    sample.hits += counts.hits;
  }
  sample.lanes = by_lane.size();
  sample.halves = InOrder(by_half);
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

VarianceTerm SpreadOf(const Sample& sample) {
  const double p = sample.share();
  const VarianceTerm clusters{.variance = SpreadAt(sample.clusters, p),
                              .degrees = static_cast<double>(sample.clusters.size()) - 1};
  // Neighbouring runs of a lane often belong to one session: they count as half as many.
  if (sample.lanes < kLanesForClusters) {
    return {clusters.variance, std::max(1.0, clusters.degrees / 2)};
  }
  const VarianceTerm time = OverTime(ResidualsAt(sample.halves, p), ResidualsAt(sample.cells, p));
  if (!(time.variance > 0)) return clusters;
  return {clusters.variance + time.variance, SatterthwaiteDegrees({clusters, time})};
}

// The p with (s − p)² <= c·p(1−p), c > 0: Wilson's interval.
Interval Wilson(double share, double c) {
  const double middle = (share + c / 2) / (1 + c);
  const double half = std::sqrt(c * share * (1 - share) + c * c / 4) / (1 + c);
  return {.low = middle - half, .high = middle + half};
}

// The p with (s − p)²·N² <= t²·Σ(hits − n·p)²; everything where the quadratic does not open upward.
Interval FromClusterResiduals(const Sample& sample, double t) {
  double nn = 0;
  double nh = 0;
  double hh = 0;
  for (const Counts& cluster : sample.clusters) {
    nn += cluster.n * cluster.n;
    nh += cluster.n * cluster.hits;
    hh += cluster.hits * cluster.hits;
  }
  const double a = sample.n * sample.n - t * t * nn;
  const double b = sample.n * sample.hits - t * t * nh;  // Half of the linear term, negated.
  const double c = sample.hits * sample.hits - t * t * hh;
  if (!(a > 0)) return {};
  const double root = std::sqrt(std::max(0.0, b * b - a * c));
  return {.low = (b - root) / a, .high = (b + root) / a};
}

// The p with (s − p)² <= t²·(s(1−s) + (s − p)²)/N; everything if N <= t².
Interval FromCallResiduals(const Sample& sample, double t) {
  const double left = sample.n - t * t;
  if (!(left > 0)) return {};
  const double share = sample.share();
  const double half = std::sqrt(t * t * share * (1 - share) / left);
  return {.low = share - half, .high = share + half};
}

bool HasRoomForResiduals(const Sample& sample, double t) {
  double nn = 0;
  for (const Counts& cluster : sample.clusters) nn += cluster.n * cluster.n;
  return t * t * nn <= kResidualShareMax * sample.n * sample.n;
}

// Residuals at a p under test as a multiple of p(1−p), of a share near p: solved for (s − p)² as in
// the two intervals above. Infinite where no p is rejected.
double ResidualEffect(const Sample& sample, double t) {
  const double p = sample.share();
  if (!HasRoomForResiduals(sample, t)) {
    return sample.n > t * t ? 1 / (sample.n - t * t) : std::numeric_limits<double>::infinity();
  }
  double nn = 0;
  double squares = 0;
  for (const Counts& cluster : sample.clusters) {
    const double residual = cluster.hits - cluster.n * p;
    nn += cluster.n * cluster.n;
    squares += residual * residual;
  }
  return squares / (p * (1 - p)) / (sample.n * sample.n - t * t * nn);
}

// Whether q is rejected where all calls are on one side, whichever it is.
bool ExtremesReject(double q, std::vector<ShareCell> cells) {
  for (ShareCell& cell : cells) cell.hits = 0;
  if (!(ShareOf(cells).high < q)) return false;
  for (ShareCell& cell : cells) cell.hits = cell.n;
  return ShareOf(cells).low > q;
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
  const VarianceTerm spread = SpreadOf(sample);
  result.design_effect = DesignEffect(sample, spread.variance);
  if (sample.clusters.size() < 2) return result;

  result.degrees = std::max(confidence.degrees_min, spread.degrees);
  const double t = StudentTQuantile(1 - confidence.tail, result.degrees);
  const Interval scaled = Wilson(sample.share(), t * t * result.design_effect / sample.n);
  const Interval at_p = HasRoomForResiduals(sample, t) ? FromClusterResiduals(sample, t)
                                                       : FromCallResiduals(sample, t);
  result.low = std::clamp(std::min(scaled.low, at_p.low), 0.0, result.share);
  result.high = std::clamp(std::max(scaled.high, at_p.high), result.share, 1.0);
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

QuantileBand BandOf(double quantile, const std::vector<ShareCell>& cells) {
  const Sample sample = Gather(cells);
  if (!(quantile > 0 && quantile < 1) || sample.n == 0) return {};
  QuantileBand band;
  const bool two_sided = sample.hits > 0 && sample.hits < sample.n;
  if (two_sided && sample.clusters.size() >= 2) {
    const VarianceTerm spread = SpreadOf(sample);
    const double t = StudentTQuantile(1 - kTail, spread.degrees);
    const double effect =
        std::max(DesignEffect(sample, spread.variance) / sample.n, ResidualEffect(sample, t));
    const double half = t * std::sqrt(quantile * (1 - quantile) * effect);
    band = {.low = quantile - half, .high = quantile + half};
  }
  // Half a call, so that rounding decides nothing.
  const double first = 0.5 / sample.n;
  const bool within = band.low >= first && band.high <= 1 - first;
  if (within || !ExtremesReject(quantile, cells)) return band;
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
