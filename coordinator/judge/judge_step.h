// The verdict of one step (design section 3): void rules, then the load rule, then every part of
// the bar, then their combination. Pure.
#pragma once

#include "coordinator/judge/bar.h"
#include "coordinator/judge/evidence.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// Judges the evidence against the bar with which its cells were counted (their parts are the bar's
// limits); limits on tiers that the evidence leaves out have no part. A limit that is no number, a
// quantile outside (0, 1) or an empty bar is "no data" with its reason: nothing that is missing
// ever passes.
StepVerdict JudgeStep(const StepEvidence& evidence, const Bar& bar);

// Of a step that is not void: its verdict and its reasons, from its parts.
void Decide(StepVerdict& step);

}  // namespace plimsoll
