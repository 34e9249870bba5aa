// A step's evals: from evidence to the summary that is kept, and its way into the step's verdict.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "coordinator/evals/eval_verdict.h"
#include "coordinator/judge/eval_summary.h"

namespace plimsoll {

// `kinds` are the set's; the evidence is by them.
EvalSummary SummarizeEvals(const EvalBar& bar, const std::vector<std::string>& kinds,
                           const EvalEvidence& loaded, const EvalEvidence& unloaded);
// Of a step that was broken off: its counts so far; no data, `why`.
EvalSummary SummarizeEvalsSoFar(const std::vector<std::string>& kinds, const EvalEvidence& loaded,
                                const EvalEvidence& unloaded, const std::string& why);

// A confident fail fails the step, unless it is void: then it says nothing, and neither do its
// evals, which read no data. Any other verdict of evals leaves the step's as it is.
void EnterVerdict(EvalSummary* evals, StepVerdict* step);

}  // namespace plimsoll
