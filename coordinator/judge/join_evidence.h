// A step and its extension as one piece of evidence. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/judge/evidence.h"

namespace plimsoll {

// The cells of a step of `blocks` and those of its extension, whose blocks are numbered on. By
// lane, then block, then half.
std::vector<CellCounts> JoinCells(std::vector<CellCounts> first, std::vector<CellCounts> more,
                                  std::uint32_t blocks);

// `first`, then `more` of the same sessions on the same lanes: blocks are numbered on, counts and
// distributions added up. The plan is the first's with the number of `more` and the measured times
// of both; an agent lost in either is lost; identities of both are listed, those of `more` marked.
StepEvidence JoinEvidence(const StepEvidence& first, const StepEvidence& more);

}  // namespace plimsoll
