#include "coordinator/judge/capacity.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace plimsoll {
namespace {

std::string Kept(const StepResult& step) {
  return fmt::format("({:.1f} requests in flight)", step.requests_in_flight);
}

// "10 is too close to call, leaning pass"
std::string Undecided(const StepResult& step) {
  if (step.verdict.verdict == Verdict::kNoData) return fmt::format("{} has no data", step.sessions);
  return fmt::format("{} is too close to call, leaning {}", step.sessions,
                     LeanOf(step.verdict) == Lean::kPass ? "pass" : "fail");
}

std::optional<Metric> FirstFailingPart(const StepVerdict& verdict) {
  for (const PartVerdict& part : verdict.parts) {
    if (part.verdict == Verdict::kFail) return part.limit.metric;
  }
  return std::nullopt;
}

// What the other steps say: undecided ones, and passes beyond the first miss.
std::string Remarks(const std::vector<StepResult>& steps, const Capacity& capacity) {
  std::string remarks;
  for (const StepResult& step : steps) {
    const bool undecided =
        step.verdict.verdict == Verdict::kTooClose || step.verdict.verdict == Verdict::kNoData;
    if (undecided) {
      remarks += "; " + Undecided(step);
    } else if (capacity.failed && step.sessions > *capacity.failed) {
      remarks += fmt::format("; {} {}", step.sessions,
                             step.verdict.holds() ? "passed all the same" : "misses too");
    }
  }
  return remarks;
}

}  // namespace

SweepHistory OfLadder(const SweepHistory& history, std::string_view ladder) {
  SweepHistory steps;
  for (const StepResult& step : history) {
    if (step.origin.ladder == ladder) steps.push_back(step);
  }
  return steps;
}

std::vector<StepResult> DecidedSteps(const SweepHistory& history) {
  std::map<std::uint32_t, StepResult> by_sessions;
  for (const StepResult& step : history) {
    const auto [at, is_new] = by_sessions.try_emplace(step.sessions, step);
    if (is_new) continue;
    const bool loses_data =
        step.verdict.verdict == Verdict::kNoData && at->second.verdict.verdict != Verdict::kNoData;
    if (!loses_data) at->second = step;
  }
  std::vector<StepResult> steps;
  steps.reserve(by_sessions.size());
  for (auto& [sessions, step] : by_sessions) steps.push_back(std::move(step));
  return steps;
}

Capacity CapacityOf(const SweepHistory& history) {
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

  Capacity capacity;
  if (passed != nullptr) {
    capacity.passed = passed->sessions;
    capacity.requests_in_flight = passed->requests_in_flight;
  }
  std::string parts;
  if (failed != nullptr) {
    capacity.failed = failed->sessions;
    capacity.limited_by = FirstFailingPart(failed->verdict);
    parts = PartsWith(failed->verdict, Verdict::kFail);
  }
  if (passed != nullptr && failed != nullptr) {
    capacity.sentence = fmt::format("{} sessions hold {}; {} do not: {}", passed->sessions,
                                    Kept(*passed), failed->sessions, parts);
  } else if (passed != nullptr) {
    capacity.sentence =
        fmt::format(">= {} sessions {}, ceiling not found", passed->sessions, Kept(*passed));
  } else if (failed != nullptr && failed == &steps.front()) {
    capacity.sentence =
        fmt::format("< {} sessions: the first step already misses: {}", failed->sessions, parts);
  } else if (failed != nullptr) {
    capacity.sentence =
        fmt::format("< {} sessions: {}; no step below was found to hold", failed->sessions, parts);
  } else {
    capacity.sentence = "no capacity: no step was decided";
  }
  capacity.sentence += Remarks(steps, capacity);
  return capacity;
}

}  // namespace plimsoll
