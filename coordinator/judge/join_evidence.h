// A step and its extension as one piece of evidence. Pure.
#pragma once

#include "coordinator/judge/evidence.h"

namespace plimsoll {

// `first`, then `more` of the same sessions on the same lanes: blocks are numbered on, counts and
// distributions added up. The plan is the first's with the number of `more` and the measured times
// of both; an agent lost in either is lost; identities of both are listed, those of `more` marked.
StepEvidence JoinEvidence(const StepEvidence& first, const StepEvidence& more);

}  // namespace plimsoll
