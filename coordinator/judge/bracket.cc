#include "coordinator/judge/bracket.h"

#include <fmt/format.h>

namespace plimsoll {

std::string BracketOf(const SweepHistory& history) {
  const std::vector<StepResult> steps = DecidedSteps(history);
  const StepResult* passed = nullptr;
  const StepResult* failed = nullptr;
  for (const StepResult& step : steps) {
    if (step.verdict.verdict == Verdict::kFail) {
      failed = &step;
      break;
    }
    if (step.verdict.holds()) passed = &step;
  }
  const std::string parts = failed == nullptr ? "" : PartsWith(failed->verdict, Verdict::kFail);
  if (passed != nullptr && failed != nullptr) {
    return fmt::format("{} sessions passed last, {} failed first: {}", passed->sessions,
                       failed->sessions, parts);
  }
  if (passed != nullptr)
    return fmt::format("{} sessions passed last, none failed", passed->sessions);
  if (failed == nullptr) return "no step was decided";
  return failed == &steps.front()
             ? fmt::format("the first step, {} sessions, failed: {}", failed->sessions, parts)
             : fmt::format("{} sessions failed first, none below passed: {}", failed->sessions,
                           parts);
}

}  // namespace plimsoll
