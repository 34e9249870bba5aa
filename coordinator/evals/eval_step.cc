#include "coordinator/evals/eval_step.h"

namespace plimsoll {
namespace {

// What is counted, without a verdict.
EvalSummary CountsOf(const std::vector<std::string>& kinds, const EvalEvidence& loaded,
                     const EvalEvidence& unloaded) {
  EvalSummary summary{.loaded = loaded.total(),
                      .unloaded = unloaded.total(),
                      .faults = loaded.faults,
                      .faults_unloaded = unloaded.faults};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    EvalKindSummary kind{.kind = kinds[k]};
    if (k < loaded.kinds.size()) kind.loaded = loaded.kinds[k];
    if (k < unloaded.kinds.size()) kind.unloaded = unloaded.kinds[k];
    summary.kinds.push_back(std::move(kind));
  }
  return summary;
}

}  // namespace

EvalSummary SummarizeEvals(const EvalBar& bar, const std::vector<std::string>& kinds,
                           const EvalEvidence& loaded, const EvalEvidence& unloaded) {
  EvalSummary summary = CountsOf(kinds, loaded, unloaded);
  EvalVerdict judged = JudgeEvals(bar, loaded.blocks, unloaded.total());
  summary.verdict = judged.verdict;
  summary.lean = judged.lean;
  summary.reason = std::move(judged.reason);
  summary.design_effect = judged.design_effect;
  summary.interval = judged.interval;
  summary.change = judged.change;
  return summary;
}

EvalSummary SummarizeEvalsSoFar(const std::vector<std::string>& kinds, const EvalEvidence& loaded,
                                const EvalEvidence& unloaded, const std::string& why) {
  // The interval is of what was counted; nothing is asked of it.
  EvalSummary summary = SummarizeEvals({}, kinds, loaded, unloaded);
  summary.reason = why;
  return summary;
}

void EnterVerdict(EvalSummary* evals, StepVerdict* step) {
  if (step->is_void) {
    evals->verdict = Verdict::kNoData;
    evals->lean = Lean::kNone;
    evals->reason = "the step is void: " + FirstReason(*step);
    return;
  }
  if (evals->verdict != Verdict::kFail) return;
  if (step->verdict != Verdict::kFail) step->reasons.clear();
  step->verdict = Verdict::kFail;
  step->reasons.push_back("evals: " + evals->reason);
  step->failed_beside = "evals";
}

}  // namespace plimsoll
