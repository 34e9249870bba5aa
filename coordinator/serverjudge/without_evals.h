// A server's counts without the evals that were asked beside the load. No page tells them apart, so
// what is left is bounded by what agents know of them (EvalTraffic). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/serverjudge/block_share.h"

namespace plimsoll {

// Takes so many hits and so many misses out of the blocks, from each in proportion to what it has
// of them, and no more than there are.
void TakeOut(std::uint64_t hits, std::uint64_t misses, std::vector<BlockCount>* blocks);

// Makes hits of so many misses, of each block's in proportion; what there are too few for becomes
// hits beside them, in the last block.
void TurnToHits(std::uint64_t count, std::vector<BlockCount>* blocks);

}  // namespace plimsoll
