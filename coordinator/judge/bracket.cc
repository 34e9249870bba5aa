#include "coordinator/judge/bracket.h"

#include <fmt/format.h>

#include "coordinator/judge/capacity_words.h"

namespace plimsoll {
namespace {

BracketEnd EndOf(const StepResult& step) {
  return {.sessions = step.sessions, .requests_in_flight = step.known_in_flight()};
}

// `parts`: what the failed step failed on; `first`: it is the ladder's first.
std::string SentenceOf(const Bracket& bracket, const std::string& parts, bool first) {
  if (bracket.passed && bracket.failed) {
    // The unit once, where both have a number.
    const bool said = bracket.passed->requests_in_flight.has_value();
    return fmt::format("{} sessions passed last{}, {} failed first{}: {}", bracket.passed->sessions,
                       InFlightWords(bracket.passed->requests_in_flight), bracket.failed->sessions,
                       said ? InFlightWords(bracket.failed->requests_in_flight, "")
                            : InFlightWords(bracket.failed->requests_in_flight),
                       parts);
  }
  if (bracket.passed) {
    return fmt::format("{} sessions passed last{}, none failed", bracket.passed->sessions,
                       InFlightWords(bracket.passed->requests_in_flight));
  }
  if (!bracket.failed) return "no step was decided";
  return first ? fmt::format("the first step, {} sessions, failed{}: {}", bracket.failed->sessions,
                             InFlightWords(bracket.failed->requests_in_flight), parts)
               : fmt::format("{} sessions failed first{}, none below passed: {}",
                             bracket.failed->sessions,
                             InFlightWords(bracket.failed->requests_in_flight), parts);
}

}  // namespace

Bracket BracketOf(const SweepHistory& history) {
  const std::vector<StepResult> steps = DecidedSteps(history);
  const StepResult* failed = nullptr;
  Bracket bracket;
  for (const StepResult& step : steps) {
    if (step.verdict.verdict == Verdict::kFail) {
      failed = &step;
      break;
    }
    if (step.verdict.holds()) bracket.passed = EndOf(step);
  }
  if (failed != nullptr) bracket.failed = EndOf(*failed);
  const std::string parts = failed == nullptr ? "" : PartsWith(failed->verdict, Verdict::kFail);
  bracket.sentence = SentenceOf(bracket, parts, failed != nullptr && failed == &steps.front());
  return bracket;
}

}  // namespace plimsoll
