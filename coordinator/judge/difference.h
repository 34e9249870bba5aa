// By how much two runs of the same plays differ in a share of calls, from counts per (lane, block).
// Pure. docs/statistics.md has the measured coverage.
//
// In both runs lane k replays the same sessions, so what a session does to its lane's share it does
// in both, and the lanes' differences vary less than the lanes. With totals N_A, N_B over all
// lanes, shares s_A, s_B, and of lane k its calls n_Ak and hits h_Ak (likewise B):
//
//   a_k  = (h_Ak − s_A·n_Ak) / N_A,  b_k likewise       what lane k adds to the share's error
//   D    = s_A − s_B
//   V    = L/(L−1) · Σ_k (a_k − b_k)²                   over the L lanes of either run
//   W    = V + B/(B−1) · Σ_b (a_b² + b_b²) − C/(C−1) · Σ (a_kb² + b_kb²)
//                                                        two-way: the runs' blocks are other times
//   95%  = D ± t(97.5%, L − 1) · √max(V, W)
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

// `small`: the share is one of bad calls (IsBadShare). A run without an observation leaves
// everything open.
ShareDifference DifferenceOf(const std::vector<ShareCell>& a, const std::vector<ShareCell>& b,
                             Pairing pairing, bool small);

}  // namespace plimsoll
