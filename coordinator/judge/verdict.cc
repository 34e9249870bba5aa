#include "coordinator/judge/verdict.h"

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

const char* Name(Metric metric) {
  switch (metric) {
    case Metric::kTtft:
      return "TTFT";
    case Metric::kInteractivity:
      return "interactivity";
    case Metric::kErrors:
      return "errors";
    case Metric::kToolCalls:
      return "tool calls";
  }
  return "unknown";
}

Lean LeanOf(const StepVerdict& step) {
  if (step.verdict != Verdict::kTooClose) return Lean::kNone;
  for (const PartVerdict& part : step.parts) {
    if (part.verdict == Verdict::kTooClose && part.lean != Lean::kPass) return Lean::kFail;
  }
  return Lean::kPass;
}

std::string PartsWith(const StepVerdict& step, Verdict verdict) {
  std::string names;
  for (const PartVerdict& part : step.parts) {
    if (part.verdict != verdict) continue;
    if (!names.empty()) names += ", ";
    names += Name(part.limit.metric);
  }
  return names;
}

}  // namespace plimsoll
