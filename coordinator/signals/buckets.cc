#include "coordinator/signals/buckets.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmt/format.h"

namespace plimsoll {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Whether `count` of `n` are at least `share`: 27 of 30 are 90%, whatever 0.9 * 30 rounds to.
bool Reaches(std::uint64_t count, std::uint64_t n, double share) {
  const double wanted = share * static_cast<double>(n);
  return static_cast<double>(count) >= wanted - 1e-9 * std::max(wanted, 1.0);
}

// Index of the bucket that holds the observation of this rank among n; edges.size(): beyond them.
std::size_t BucketAt(const BucketCounts& counts, double rank) {
  std::size_t i = 0;
  while (i < counts.edges.size() && static_cast<double>(counts.at_most[i]) < rank) ++i;
  return i;
}

double LowerEdge(const BucketCounts& counts, std::size_t bucket) {
  if (bucket > 0) return counts.edges[bucket - 1];
  return counts.edges[0] > 0 ? 0 : -kInfinity;
}

double Estimate(const BucketCounts& counts, double rank, bool& is_floor) {
  const std::size_t bucket = BucketAt(counts, rank);
  is_floor = bucket == counts.edges.size();
  if (is_floor) return counts.edges.back();
  const double upper = counts.edges[bucket];
  if (bucket == 0 && upper <= 0) return upper;
  const double lower = bucket == 0 ? 0 : counts.edges[bucket - 1];
  const double before = bucket == 0 ? 0 : static_cast<double>(counts.at_most[bucket - 1]);
  const double inside = static_cast<double>(counts.at_most[bucket]) - before;
  return inside > 0 ? lower + (upper - lower) * (rank - before) / inside : upper;
}

}  // namespace

bool SameEdge(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b;
  return std::abs(a - b) <= kSameEdge * std::max(std::abs(a), std::abs(b));
}

bool SameEdges(std::span<const double> a, std::span<const double> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameEdge);
}

bool BucketCounts::Merge(const BucketCounts& other) {
  if (!SameEdges(edges, other.edges)) return false;
  for (std::size_t i = 0; i < at_most.size(); ++i) at_most[i] += other.at_most[i];
  n += other.n;
  sum += other.sum;
  repaired = repaired || other.repaired;
  return true;
}

LimitEdges EdgesAround(std::span<const double> edges, double limit) {
  LimitEdges around;
  for (const double edge : edges) {
    const bool same = SameEdge(edge, limit);
    if (same || edge < limit) around.under = edge;
    if (!around.over.has_value() && (same || edge > limit)) around.over = edge;
    around.exact = around.exact || same;
  }
  around.can_pass = around.under.has_value();
  around.can_fail = around.over.has_value();
  return around;
}

LimitCounts CountAt(const BucketCounts& counts, double limit, double quantile, std::uint64_t open) {
  LimitCounts at{.edges = EdgesAround(counts.edges, limit), .n = counts.n, .open = open};
  at.possibly = counts.n;
  for (std::size_t i = 0; i < counts.edges.size(); ++i) {
    if (at.edges.under == counts.edges[i]) at.surely = counts.at_most[i];
    if (at.edges.over == counts.edges[i]) at.possibly = counts.at_most[i];
  }
  if (counts.n + open == 0) return at;
  const std::uint64_t all = counts.n + open;
  if (Reaches(at.surely, all, quantile)) {
    at.resolved = Resolved::kUnder;
  } else if (!Reaches(at.possibly + open, all, quantile)) {
    at.resolved = Resolved::kOver;
  } else {
    // Without the open ones it would be decided: then it turns on them.
    const bool decided = counts.n > 0 && (Reaches(at.surely, counts.n, quantile) ||
                                          !Reaches(at.possibly, counts.n, quantile));
    at.resolved = counts.n == 0 || decided ? Resolved::kOpen : Resolved::kBuckets;
  }
  return at;
}

std::optional<QuantileBracket> BracketOf(const BucketCounts& counts, double quantile,
                                         std::uint64_t open) {
  if (counts.n == 0 || counts.edges.empty()) return std::nullopt;
  QuantileBracket bracket;
  bracket.estimate = Estimate(counts, quantile * static_cast<double>(counts.n), bracket.is_floor);
  // All open ones at or under every edge, then all of them beyond.
  const double rank = quantile * static_cast<double>(counts.n + open);
  const std::size_t best = BucketAt(counts, rank - static_cast<double>(open));
  const std::size_t worst = BucketAt(counts, rank);
  bracket.lower = LowerEdge(counts, best);
  bracket.upper = worst < counts.edges.size() ? counts.edges[worst] : kInfinity;
  return bracket;
}

std::string DecidabilityWords(std::span<const double> edges, double limit, double quantile,
                              const std::string& unit, bool as_rate) {
  const LimitEdges around = EdgesAround(edges, limit);
  if (around.exact) return "";
  const auto number = [as_rate](double value) {
    return fmt::format("{:.4g}", as_rate ? 1 / value : value);
  };
  const std::string percentile = fmt::format("P{:g}", quantile * 100);
  const std::string at = fmt::format("{} {}", number(limit), unit);
  if (!around.under.has_value() && !around.over.has_value()) {
    return "there are no buckets: nothing can be decided from them";
  }
  if (!around.over.has_value()) {
    return fmt::format(
        "{} lies beyond the last edge: a {} can be seen to keep it, and never to miss it; limits "
        "of "
        "{} {} or {} can be decided",
        at, percentile, number(*around.under), unit, as_rate ? "more" : "less");
  }
  // No time per token is 0: as a rate there is no such edge.
  if (!around.under.has_value() || (as_rate && *around.under <= 0)) {
    return fmt::format(
        "{} lies before the first edge: a {} can be seen to miss it, and never to keep it; limits "
        "of {} {} or {} can be decided",
        at, percentile, number(*around.over), unit, as_rate ? "less" : "more");
  }
  const std::string under = number(*around.under);
  const std::string over = number(*around.over);
  return fmt::format(
      "{0} lies between the edges {1} and {2} {3}: a {4} between them cannot be decided; limits of "
      "{1} {3} and {2} {3} can",
      at, under, over, unit, percentile);
}

}  // namespace plimsoll
