// The verdict of one step (design section 3): void rules, then the load rule, then every part of
// the bar, then their combination. Pure.
#pragma once

#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/judge/evidence.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// Judges the evidence against the bar with which its cells were counted (their parts are the bar's
// limits). A limit that is no number, a quantile outside (0, 1) or an empty bar is
// "no data" with its reason: nothing that is missing ever passes.
StepVerdict JudgeStep(const StepEvidence& evidence, const Bar& bar);

// The parts of a step that is still running, by intervals that leave out `tail` on either side.
// Void and load rules are left aside: what they read comes with the step's end.
std::vector<PartVerdict> JudgePartsSoFar(const StepEvidence& evidence, const Bar& bar, double tail);

}  // namespace plimsoll
