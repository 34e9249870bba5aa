#include "common/record/eval_outcome.h"

#include <numeric>
#include <ostream>

namespace plimsoll {

std::string_view Name(EvalOutcome outcome) {
  switch (outcome) {
    case EvalOutcome::kPass:
      return "pass";
    case EvalOutcome::kWrong:
      return "wrong";
    case EvalOutcome::kNoCall:
      return "no_call";
    case EvalOutcome::kToolFault:
      return "tool_fault";
    case EvalOutcome::kEmpty:
      return "empty";
    case EvalOutcome::kCut:
      return "cut";
    case EvalOutcome::kUnanswered:
      return "unanswered";
  }
  return "unknown";
}

std::optional<EvalOutcome> EvalOutcomeNamed(std::string_view name) {
  for (unsigned value = 1; value < kEvalOutcomes; ++value) {
    if (Name(static_cast<EvalOutcome>(value)) == name) return static_cast<EvalOutcome>(value);
  }
  return std::nullopt;
}

void PrintTo(EvalOutcome outcome, std::ostream* out) {
  *out << Name(outcome);
}

std::uint64_t EvalCounts::judged() const {
  return std::accumulate(by_outcome.begin(), by_outcome.end(), std::uint64_t{0}) -
         of(EvalOutcome::kUnanswered);
}

void EvalCounts::Add(const EvalCounts& more) {
  for (std::size_t i = 0; i < by_outcome.size(); ++i) by_outcome[i] += more.by_outcome[i];
}

}  // namespace plimsoll
