// Interval and test of a share of calls from counts per lane and half-block, when calls of one lane
// depend on each other (they share a session), and calls of one time do (they wait in one queue):
// design section 3; docs/statistics.md derives it and has its measured coverage.
//
// With N calls, K of them within the limit, share s = K/N, and a share p under test; every residual
// is hits − n·s of a group, every sum of squares over G groups carries G/(G−1):
//
//   lanes      V_lanes = Σ over lanes of residual². With fewer than three lanes, over runs instead:
//              consecutive cells of a lane gathered until they hold 20 calls; a rest of fewer than
//              10 joins the run before it.
//   time       V_time = T of spread.h: what lanes do together from one slice of time to the next
//              (share_cell.h), beyond what each does alone. With fewer than three lanes 0.
//   deff       max(1, (V_lanes + V_time) ÷ binomial); N ÷ deff is how many calls they are worth.
//   degrees    Satterthwaite's: (V_lanes + V_time)² ÷ (V_lanes²/(lanes − 1) + V_time²/its own).
//              For runs half of runs − 1, at least 1: neighbouring runs often share a session.
//   test       p is rejected when (s − p)² > t² · deff/N · max(p(1−p), s(1−s) + (s − p)²), with t
//              the 1 − tail quantile of Student's t: the variance of a call if p were true, and the
//              calls' own mean squared residual at p.
//   interval   from the smallest to the largest p not rejected: both conditions are quadratic in p,
//              so it is closed form, and the hull of the two intervals.
//
// One cluster, or fewer than four slices of time, has no spread to learn from: nothing is rejected.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/time.h"
#include "coordinator/judge/share_cell.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

struct ShareInterval {
  std::uint64_t n = 0;
  std::uint64_t hits = 0;
  double share = 0;  // hits / n; 0 without observations.
  double low = 0;    // 95% interval; [0, 1] when nothing is known.
  double high = 1;
  double design_effect = 1;  // deff above.
  double degrees = 0;        // Of Student's t; 0: nothing is known of the spread.
  std::uint32_t clusters = 0;
};

// What a 95% interval leaves out on either side.
inline constexpr double kTail = 0.025;

// How sure an interval is to be; by default 95%, by all that the rule above says.
struct Confidence {
  double tail = kTail;        // Left out on either side; between 0 and 0.5.
  double degrees_min = 1;     // Student's t has at least so many, however few slices there are.
  Duration half_block = 30s;  // How long the cells' half-blocks are.
};

// The interval of the rule above. Cells in any order; empty ones count for nothing.
ShareInterval ShareOf(const std::vector<ShareCell>& cells, const Confidence& confidence = {});

// For small shares (errors): Clopper-Pearson at n ÷ deff. The variance of time is left out here,
// and that between cells taken instead: a block in which the deployment broke belongs to the engine
// path that the interval is about, and must not make a crash look like one observation. With fewer
// than three clusters n ÷ deff is at most the number of clusters.
ShareInterval SmallShareOf(const std::vector<ShareCell>& cells, double tail = kTail);

// Shares of calls. At or below 0, at or above 1: no call bounds it there.
struct QuantileBand {
  double low = 0;
  double high = 1;
};

// The shares that lie at the true q-quantile, with 95%: those s that do not reject q,
// (s − q)² <= t² · q(1−q) ÷ (N/deff − t²), the test of the rule above with its design effect and
// degrees learnt from `cells`, which count the calls within any threshold whose share is near q.
// The ends of the quantile's own interval are the quantiles at the band's (Woodruff 1952;
// value_interval.h). Where the band reaches all calls, or the cells show no spread, the rule above
// decides whether a share of 0 and one of 1 reject q: then the first and the last call bound it,
// else nothing does. Nothing either unless 0 < q < 1.
QuantileBand BandOf(double quantile, const std::vector<ShareCell>& cells,
                    Duration half_block = 30s);

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
