// A histogram of a server, and what can be said of a limit from it: counts at the edges of its
// buckets, never a number made up inside one. Pure.
//
// "P90 <= limit" means that at least 90% of the observations are at or under the limit. A server's
// histogram knows that only at its edges. So with n observations, `surely` of them at or under the
// largest edge at or under the limit, and `possibly` at or under the smallest edge at or above it:
//   surely / n >= 90%     the limit is kept, however they lie inside their buckets;
//   possibly / n < 90%    it is missed, however they lie;
//   otherwise             these buckets cannot resolve it.
// A limit that is an edge is always resolved. One above the last edge can be shown to be kept and
// never to be missed. Requests that are still open have no observation yet: they are counted once
// as if they kept the limit and once as if they missed it, and both must agree.
// Rules for estimates inside a bucket: PromQL's histogram_quantile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plimsoll {

// Edges closer than this share of themselves are the same one: "0.00015000000000000001".
inline constexpr double kSameEdge = 1e-9;
bool SameEdge(double a, double b);
bool SameEdges(std::span<const double> a, std::span<const double> b);

struct BucketCounts {
  std::vector<double> edges;           // Upper, ascending, finite, each inclusive; any may be 0.
  std::vector<std::uint64_t> at_most;  // Observations at or under each edge: never decreasing.
  std::uint64_t n = 0;                 // All of them.
  double sum = 0;                      // NaN: the server has none.
  bool repaired = false;  // A count was lower than the one before it, and was raised to that.

  // Adds the counts of `other`. False, and nothing is added, if its edges differ: a quantile over
  // buckets that do not align is wrong, not approximate.
  bool Merge(const BucketCounts& other);
  friend bool operator==(const BucketCounts&, const BucketCounts&) = default;
};

// Where a limit lies among the edges.
struct LimitEdges {
  // The largest edge at or under the limit, the smallest at or above it; absent: there is none.
  std::optional<double> under;
  std::optional<double> over;
  // Some distribution over these buckets shows that the limit is kept, or missed.
  bool can_pass = false;
  bool can_fail = false;
  bool exact = false;  // The limit is an edge: every distribution decides.
  friend bool operator==(const LimitEdges&, const LimitEdges&) = default;
};
LimitEdges EdgesAround(std::span<const double> edges, double limit);

enum class Resolved : std::uint8_t {
  kNoData = 0,   // Nothing was observed, and nothing is open.
  kUnder = 1,    // Surely kept.
  kOver = 2,     // Surely missed.
  kBuckets = 3,  // The limit lies inside a bucket that holds the quantile.
  kOpen = 4,     // It turns on the requests that are still open.
};

struct LimitCounts {
  LimitEdges edges;
  std::uint64_t n = 0;         // Observations.
  std::uint64_t open = 0;      // Requests that may still become one.
  std::uint64_t surely = 0;    // Observations surely at or under the limit,
  std::uint64_t possibly = 0;  // and those that may be.
  Resolved resolved = Resolved::kNoData;
};
// Whether `quantile` of the observations are at or under `limit`; quantile in (0, 1). The counts
// themselves are exact; how far they would move in another window is for the judge.
LimitCounts CountAt(const BucketCounts& counts, double limit, double quantile,
                    std::uint64_t open = 0);

// Where a quantile lies: above `lower`, at or under `upper`.
struct QuantileBracket {
  double lower = 0;
  double upper = 0;       // Infinite: above the last edge, or open requests may be.
  double estimate = 0;    // As if the bucket were evenly filled, open ones left out: for people.
  bool is_floor = false;  // The estimate is the last edge: the quantile is at least that.
};
// Nothing without observations or edges. With `open` requests the bracket covers whatever becomes
// of them.
std::optional<QuantileBracket> BracketOf(const BucketCounts& counts, double quantile,
                                         std::uint64_t open = 0);

// "5.3 s lies between the edges 5 and 7.5 s: a P90 between them cannot be decided; limits of 5 s
// and 7.5 s can". For `check`, before a window is spent. Empty if the limit is an edge. `limit` is
// in the edges' unit, whose name is `unit`; with `as_rate` numbers are said as their inverse, so
// that times per token and 1 / (10 tok/s) are said in "tok/s".
std::string DecidabilityWords(std::span<const double> edges, double limit, double quantile,
                              const std::string& unit, bool as_rate = false);

}  // namespace plimsoll
