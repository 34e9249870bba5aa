// Interval and test of a share of calls from counts per (lane, block), when calls of one lane, and
// of one block, depend on each other (design section 3; docs/statistics.md derives it).
//
// With N calls, K of them within the limit, share s = K/N and a share p under test:
//
//   clusters   lanes, from three lanes on. Below, runs: consecutive blocks of a lane gathered until
//              they hold 20 calls; a rest of fewer than 10 joins the run before it.
//   deff       max(1, variance between clusters, two-way variance of lanes and blocks) ÷ binomial,
//              residuals taken at s. A negative two-way variance counts as none.
//   residuals  a second variance with residuals at p: by cluster where that leaves room for a
//   at p       rejection (t² · Σn² <= 0.7 · N²: eight lanes of equal weight or more), by call
//   below. test       p is rejected when (s − p)² > t² · max(deff · p(1−p)/N, residuals at p),
//              t the 97.5% quantile of Student's t with clusters − 1 degrees of freedom, half as
//              many (at least 1) for runs, since neighbouring runs often share a session.
//   interval   from the smallest to the largest p not rejected: both conditions are quadratic in p,
//              so it is closed form, and the hull of the two intervals.
//
// One cluster has no spread to learn from: nothing is rejected.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/judge/verdict.h"

namespace plimsoll {

// Observations of one (lane, block).
struct ShareCell {
  std::uint32_t lane = 0;
  std::uint32_t block = 0;
  std::uint64_t n = 0;
  std::uint64_t hits = 0;  // At most n; what exceeds it is not counted.
};

struct ShareInterval {
  std::uint64_t n = 0;
  std::uint64_t hits = 0;
  double share = 0;  // hits / n; 0 without observations.
  double low = 0;    // 95% interval; [0, 1] when nothing is known.
  double high = 1;
  double design_effect = 1;  // deff above, residuals at p left out.
  std::uint32_t clusters = 0;
};

// What a 95% interval leaves out on either side.
inline constexpr double kIntervalTail = 0.025;

// The interval of the rule above. Cells in any order; empty ones count for nothing. `tail` is the
// probability that it leaves out on either side (above: 2.5%).
ShareInterval ShareOf(const std::vector<ShareCell>& cells, double tail = kIntervalTail);

// For small shares (errors): Clopper-Pearson at n ÷ deff. The variance of blocks is left out here,
// and that between cells taken instead: a block in which the deployment broke belongs to the engine
// path that the interval is about, and must not make a crash look like one observation. With fewer
// than three clusters n ÷ deff is at most the number of clusters.
ShareInterval SmallShareOf(const std::vector<ShareCell>& cells, double tail = kIntervalTail);

enum class Side : std::uint8_t { kAbove, kBelow, kCrosses };

struct SideOf {
  Side side = Side::kCrosses;
  Lean lean = Lean::kNone;  // Of kCrosses: kPass if the share itself is on the good side.
};
// Where the interval lies from `limit` in [0, 1]; `good` is the side that passes. A limit that is
// not a number is crossed, without a lean.
SideOf Compare(const ShareInterval& interval, double limit, Side good);

// The fewest observations with which the q-quantile has a two-sided 95% interval: the smallest n
// with max(q, 1−q)^n <= 2.5%, since no order statistic bounds the quantile from the far side before
// that. 36 for P90, 72 for P95, 368 for P99. 0 < q < 1; 0 for anything else.
std::uint64_t FewestForQuantile(double q);

}  // namespace plimsoll
