#include "coordinator/judge/judge_step.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "coordinator/judge/judge_part.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

// Any fail, else any no data, else any too close, else pass.
Verdict Combine(const std::vector<PartVerdict>& parts) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const PartVerdict& part) { return part.verdict == verdict; });
  };
  if (parts.empty()) return Verdict::kNoData;
  for (const Verdict verdict : {Verdict::kFail, Verdict::kNoData, Verdict::kTooClose}) {
    if (any(verdict)) return verdict;
  }
  return Verdict::kPass;
}

}  // namespace

StepVerdict JudgeStep(const StepEvidence& evidence, const Bar& bar) {
  StepVerdict step{.offered_share = OfferedShare(evidence), .sent_share = SentShare(evidence)};
  step.reasons = VoidReasons(evidence);
  step.is_void = !step.reasons.empty();
  for (std::size_t i = 0; i < bar.limits.size(); ++i) {
    const Limit& limit = bar.limits[i];
    step.parts.push_back(step.is_void
                             ? NoData({.limit = limit}, "the step is void: " + step.reasons.front())
                             : JudgePart(limit, i, evidence, step.sent_share));
  }
  if (step.is_void) return step;

  step.verdict = Combine(step.parts);
  for (std::size_t i = 0; i < step.parts.size(); ++i) {
    const PartVerdict& part = step.parts[i];
    if (part.verdict != step.verdict || step.verdict == Verdict::kPass) continue;
    step.reasons.push_back(fmt::format("{}: {}", LabelOf(step, i), part.reason));
  }
  if (bar.limits.empty()) step.reasons.emplace_back("the bar names no part");
  return step;
}

std::vector<PartVerdict> JudgePartsSoFar(const StepEvidence& evidence, const Bar& bar,
                                         double tail) {
  std::vector<PartVerdict> parts;
  for (std::size_t i = 0; i < bar.limits.size(); ++i) {
    parts.push_back(JudgePart(bar.limits[i], i, evidence, 1, tail));
  }
  return parts;
}

}  // namespace plimsoll
