#include "coordinator/report/eval_text.h"

#include <fmt/format.h>

namespace plimsoll {
namespace {

std::string Outcomes(const EvalCounts& counts) {
  std::string text;
  for (std::size_t o = 1; o < kEvalOutcomes; ++o) {
    if (counts.by_outcome[o] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts.by_outcome[o],
                        Name(static_cast<EvalOutcome>(o)));
  }
  return text;
}

// "tool-parallel 3 of 7": kinds of case that were not all right.
std::string WrongKinds(const EvalSummary& evals) {
  std::string text;
  for (const EvalKindSummary& kind : evals.kinds) {
    if (kind.loaded.passed() == kind.loaded.judged()) continue;
    text += fmt::format("{}{} {} of {} right", text.empty() ? "" : ", ", kind.kind,
                        kind.loaded.passed(), kind.loaded.judged());
  }
  return text;
}

std::string RateText(const EvalCounts& counts) {
  const auto rate = PassRate(counts);
  return rate ? fmt::format("{:.1f}% of {}", *rate * 100, counts.judged())
              : std::string("none answered");
}

}  // namespace

std::string EvalSentence(const EvalSummary& evals, std::uint64_t attempts) {
  std::string text = fmt::format("{}: {}", Name(evals.verdict), RateText(evals.loaded));
  if (evals.loaded.judged() > 0) {
    text += fmt::format(" right, 95% interval {:.1f} to {:.1f}%", evals.interval.low * 100,
                        evals.interval.high * 100);
  }
  text += "; unloaded " + RateText(evals.unloaded);
  if (const std::string outcomes = Outcomes(evals.loaded); !outcomes.empty()) {
    text += "; " + outcomes;
  }
  if (const std::string kinds = WrongKinds(evals); !kinds.empty()) text += "; " + kinds;
  if (const std::string faults = FaultSentence(evals.faults); !faults.empty()) {
    text += "; tool calls: " + faults;
  }
  const std::uint64_t asked = Asked(evals.loaded);
  if (asked + attempts > 0) {
    text += fmt::format("; {:.1f}% of all requests",
                        100 * static_cast<double>(asked) / static_cast<double>(asked + attempts));
  }
  return text + "; " + evals.reason;
}

std::string FaultSentence(const FaultyAnswers& faults) {
  std::string text;
  for (std::size_t kind = 1; kind < kToolFaults; ++kind) {
    if (faults.by_kind[kind] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", faults.by_kind[kind],
                        Name(static_cast<ToolFault>(kind)));
  }
  return text;
}

}  // namespace plimsoll
