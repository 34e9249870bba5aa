#include "coordinator/planning/peak.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/plan/context_limit.h"
#include "common/plan/session_graph.h"

namespace plimsoll {
namespace {

constexpr Duration kMinute = 1min;

// A gauge on its grid: by step from the range's beginning, NaN where nothing usable is.
std::vector<double> OnGrid(const std::vector<GaugePoint>& points, const TimeRange& range,
                           Duration step, GaugeSummary& summary) {
  const auto size = static_cast<std::size_t>((range.to - range.from) / step) + 1;
  std::vector<double> grid(size, std::nan(""));
  std::vector<char> seen(size, 0);
  for (const GaugePoint& point : points) {
    if (point.at < range.from || point.at > range.to) continue;
    const Duration after = point.at - range.from;
    if (after % step != Duration{0}) continue;
    const auto i = static_cast<std::size_t>(after / step);
    seen[i] = 1;
    grid[i] = point.value;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (seen[i] == 0) {
      ++summary.missing;
    } else if (!std::isfinite(grid[i])) {
      ++summary.not_numbers;
      grid[i] = std::nan("");
    } else if (grid[i] < 0) {
      ++summary.negative;
      grid[i] = std::nan("");
    } else {
      ++summary.points;
    }
  }
  return grid;
}

void FindBusiest(const std::vector<double>& grid, const TimeRange& range, Duration step,
                 GaugeSummary& summary) {
  const auto width = static_cast<std::size_t>((kMinute + step - Duration{1}) / step);
  for (std::size_t i = 0, whole = 0; i < grid.size(); ++i) {
    whole = std::isnan(grid[i]) ? 0 : whole + 1;
    if (whole < width) continue;
    // Summed anew: a running sum would carry rounding from minute to minute.
    double sum = 0;
    for (std::size_t j = i + 1 - width; j <= i; ++j) sum += grid[j];
    const double mean = sum / static_cast<double>(width);
    if (summary.busiest && mean <= summary.busiest->mean) continue;
    summary.busiest = {.from = range.from + static_cast<std::int64_t>(i + 1 - width) * step,
                       .length = static_cast<std::int64_t>(width) * step,
                       .mean = mean};
  }
}

// Sums over the sessions of a tier.
struct TierTime {
  double service_s = 0;
  double length_s = 0;
};

TierTime TimeOf(const TierPlan& tier, const RunPlan& plan, const Corpus& corpus) {
  TierTime time;
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  const ContextFilter filter(plan, corpus);
  for (std::uint32_t s = 0; s < corpus.sessions.size(); ++s) {
    const Session& session = corpus.sessions[s];
    if (session.tier != tier.tier || !filter.Plays(s)) continue;
    const SessionGraph graph(session, rule, filter.left_out(s));
    time.length_s += ToSeconds(graph.length());
    for (std::size_t c = 0; c < session.calls.size(); ++c) {
      if (graph.left_out(c)) continue;
      time.service_s += ToSeconds(FromMillis(session.calls[c].service_ms));
    }
  }
  return time;
}

}  // namespace

StatusOr<std::vector<TimeRange>> SplitRange(const TimeRange& range, Duration step) {
  if (step <= Duration{0}) return absl::InvalidArgumentError("a step must take some time");
  if (range.to <= range.from) {
    return absl::InvalidArgumentError(
        "the range ends before it begins; --from must be before --to");
  }
  const auto points = static_cast<std::uint64_t>((range.to - range.from) / step) + 1;
  const std::uint64_t queries = (points + kPointsOfAQueryMax - 1) / kPointsOfAQueryMax;
  if (queries > kQueriesMax) {
    return absl::InvalidArgumentError(fmt::format(
        "{} samples are {} queries, at most {} are made; take a shorter range or a longer "
        "--step",
        points, queries, kQueriesMax));
  }
  std::vector<TimeRange> parts;
  for (std::uint64_t first = 0; first < points; first += kPointsOfAQueryMax) {
    const std::uint64_t last = std::min(first + kPointsOfAQueryMax, points) - 1;
    parts.push_back({range.from + static_cast<std::int64_t>(first) * step,
                     range.from + static_cast<std::int64_t>(last) * step});
  }
  return parts;
}

GaugeSummary Summarize(const std::vector<GaugePoint>& points, const TimeRange& range,
                       Duration step) {
  GaugeSummary summary;
  if (step <= Duration{0} || range.to < range.from) return summary;
  const std::vector<double> grid = OnGrid(points, range, step, summary);
  double sum = 0;
  std::size_t gap = 0;
  std::size_t longest = 0;
  for (const double value : grid) {
    gap = std::isnan(value) ? gap + 1 : 0;
    longest = std::max(longest, gap);
    if (!std::isnan(value)) sum += value;
  }
  summary.longest_gap = static_cast<std::int64_t>(longest) * step;
  if (summary.points > 0) summary.mean = sum / static_cast<double>(summary.points);
  FindBusiest(grid, range, step, summary);
  return summary;
}

MixInFlight InFlightOf(const RunPlan& plan, const Corpus& corpus) {
  MixInFlight mix;
  double shares = 0;
  for (const TierPlan& tier : plan.tiers) shares += tier.share;
  for (const TierPlan& tier : plan.tiers) {
    const TierTime time = TimeOf(tier, plan, corpus);
    mix.tiers.push_back({.name = tier.name,
                         .share = shares > 0 ? tier.share / shares : 0,
                         .mean = time.length_s > 0 ? time.service_s / time.length_s : 0});
    mix.mean += mix.tiers.back().share * mix.tiers.back().mean;
  }
  return mix;
}

std::uint64_t SessionsFor(double requests, const MixInFlight& mix) {
  if (!(mix.mean > 0) || !(requests > 0)) return 0;
  const double sessions = std::ceil(requests / mix.mean - 1e-9);
  return sessions < 1e18 ? static_cast<std::uint64_t>(sessions) : 0;
}

}  // namespace plimsoll
