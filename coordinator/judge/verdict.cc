#include "coordinator/judge/verdict.h"

#include <algorithm>

#include "coordinator/judge/metrics.h"
#include "coordinator/judge/step_origin.h"

namespace plimsoll {

const char* Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kTooClose:
      return "too close";
    case Verdict::kNoData:
      return "no data";
  }
  return "unknown";
}

const char* Name(StepKind kind) {
  switch (kind) {
    case StepKind::kPlanned:
      return "planned";
    case StepKind::kExtension:
      return "extension";
    case StepKind::kRepeat:
      return "repeat";
    case StepKind::kRefinement:
      return "refinement";
  }
  return "unknown";
}

Verdict VerdictOf(const std::vector<PartVerdict>& parts) {
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

Lean LeanOf(const StepVerdict& step) {
  if (step.verdict != Verdict::kTooClose) return Lean::kNone;
  for (const PartVerdict& part : step.parts) {
    if (part.verdict == Verdict::kTooClose && part.lean != Lean::kPass) return Lean::kFail;
  }
  return Lean::kPass;
}

std::string LabelOf(const StepVerdict& step, std::size_t index) {
  std::vector<Limit> limits;
  limits.reserve(step.parts.size());
  for (const PartVerdict& part : step.parts) limits.push_back(part.limit);
  return PartLabel(limits, index);
}

std::string FirstReason(const StepVerdict& step) {
  return step.reasons.empty() ? std::string("no reason given") : step.reasons.front();
}

std::vector<std::string> ReasonsWith(const StepVerdict& step, Verdict verdict) {
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < step.parts.size(); ++i) {
    if (step.parts[i].verdict != verdict) continue;
    reasons.push_back(LabelOf(step, i) + ": " + step.parts[i].reason);
  }
  return reasons;
}

std::string PartsWith(const StepVerdict& step, Verdict verdict) {
  std::string names;
  for (std::size_t i = 0; i < step.parts.size(); ++i) {
    if (step.parts[i].verdict != verdict) continue;
    if (!names.empty()) names += ", ";
    names += LabelOf(step, i);
  }
  if (verdict == Verdict::kFail && !step.failed_beside.empty()) {
    names += (names.empty() ? "" : ", ") + step.failed_beside;
  }
  return names;
}

}  // namespace plimsoll
