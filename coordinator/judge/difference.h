// By how much two runs of the same plays differ in a share of calls, from counts per lane and
// half-block. Pure. docs/statistics.md has the measured coverage.
//
// In both runs lane k replays the same sessions, so what a session does to its lane's share it does
// in both, and the lanes' differences vary less than the lanes. With totals N_A, N_B over all
// lanes, shares s_A, s_B, and of any group of calls its n and hits h,
//
//   a    = (h_A − s_A·n_A) / N_A, b likewise         what the group adds to the share's error
//   D    = s_A − s_B
//   V    = L/(L−1) · Σ over the L lanes of (a − b)²
//   T_A  = T of spread.h, of a by lane and slice of time, T_B likewise: what lanes have in common;
//   it
//          is another in each run, and so not paired
//   95%  = D ± t · √(V + T_A + T_B), t the 97.5% quantile of Student's t with Satterthwaite's
//          degrees of L − 1 for V and its own for each T. Nothing is known where a T is not
//
// Where that has too little to go on, because fewer than five lanes of a run have a call on either
// side, and where runs are not paired, the two shares' own intervals [l, u] are joined as if they
// were independent (Zou and Donner's MOVER):
//
//   from D − √((s_A − l_A)² + (u_B − s_B)²)  to  D + √((u_A − s_A)² + (s_B − l_B)²)
//
// The interval is about these two windows. How windows differ, neither can see.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/judge/proportion.h"

namespace plimsoll {

struct ShareDifference {
  ShareInterval a;
  ShareInterval b;
  double value = 0;  // a.share − b.share.
  double low = -1;   // 95% interval; [−1, 1] where nothing is known.
  double high = 1;
  bool by_lane = false;  // From the lanes' differences; else from the two intervals.
  bool supported() const { return low > 0 || high < 0; }
};

enum class Pairing : std::uint8_t { kByLane, kNone };

// The counts of one run.
struct SharePart {
  std::vector<ShareCell> cells;
  Duration half_block = 30s;  // How long the cells' half-blocks are.
};

// `small`: the share is one of bad calls (IsBadShare). A run without an observation leaves
// everything open.
ShareDifference DifferenceOf(const SharePart& a, const SharePart& b, Pairing pairing, bool small);

}  // namespace plimsoll
