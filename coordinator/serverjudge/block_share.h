// Interval of a share of a server's observations, known only in total a block: which session a
// request belongs to is not on any page. docs/statistics.md, "What a server's counts can carry".
//
// With B blocks, n_b observations of which h_b are hits, N and s in all:
//   V_blocks   SquaresOf(h_b − n_b·s): what requests of one time share, and what differs from block
//              to block.
//   deff       max(SessionsEffect, V_blocks ÷ binomial). Sessions differ, and a session that is
//              slow all step long is in every block alike: that cannot be seen between blocks. So
//              it is assumed, and grows with the observations a session.
//   test       p is rejected when (s − p)² > t² · deff · p(1−p)/N, t by B − 1 degrees.
//   B < 3      nothing is known of the spread: deff is kFewBlocksEffect, t by two degrees. Only
//   what
//              is far away from the limit is decided.
// Small shares (errors): Clopper-Pearson at N ÷ deff. Without a hit there is no spread to see, and
// deff is 1, as for the client's errors; of fewer than three blocks it is kFewBlocksEffect all the
// same.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/judge/proportion.h"

namespace plimsoll {

struct BlockCount {
  std::uint64_t n = 0;
  std::uint64_t hits = 0;  // At most n; what exceeds it is not counted.
};

// Of n observations that `sessions` concurrent sessions made: 1 + (n ÷ sessions) ÷ kSessionCalls,
// from 2 up to kSessionsEffectMax, since a lane begins another session in the end. The numbers are
// those with which the intervals cover on the simulated engine (docs/statistics.md).
inline constexpr double kSessionCalls = 10;
inline constexpr double kSessionsEffectMax = 8;
double SessionsEffect(std::uint64_t n, std::uint32_t sessions);
inline constexpr double kFewBlocksEffect = 8;
inline constexpr std::size_t kBlocksForSpread = 3;

// 95% interval of the share of hits; [0, 1] without observations. `clusters` are the blocks.
// `sessions`: that the load held; 0 counts as 1.
ShareInterval ShareOverBlocks(const std::vector<BlockCount>& blocks, std::uint32_t sessions);

// For small shares.
ShareInterval SmallShareOverBlocks(const std::vector<BlockCount>& blocks, std::uint32_t sessions);

}  // namespace plimsoll
