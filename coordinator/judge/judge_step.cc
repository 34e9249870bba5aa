#include "coordinator/judge/judge_step.h"

#include <cstddef>

#include "coordinator/judge/judge_part.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {

StepVerdict JudgeStep(const StepEvidence& evidence, const Bar& bar) {
  StepVerdict step{.offered_share = OfferedShare(evidence), .sent_share = SentShare(evidence)};
  step.reasons = VoidReasons(evidence);
  step.is_void = !step.reasons.empty();
  for (std::size_t i = 0; i < bar.limits.size(); ++i) {
    const Limit& limit = bar.limits[i];
    if (!IsJudged(limit, evidence)) continue;
    step.parts.push_back(step.is_void
                             ? NoData({.limit = limit}, "the step is void: " + step.reasons.front())
                             : JudgePart(limit, i, evidence, step.sent_share));
  }
  if (step.is_void) return step;
  Decide(step);
  return step;
}

void Decide(StepVerdict& step) {
  step.reasons.clear();
  step.verdict = VerdictOf(step.parts);
  if (!step.holds()) step.reasons = ReasonsWith(step, step.verdict);
  if (step.parts.empty()) step.reasons.emplace_back("the bar names no part that is judged here");
}

}  // namespace plimsoll
