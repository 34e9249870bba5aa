#include "coordinator/judge/sweep_policy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coordinator/judge/capacity_words.h"
#include "coordinator/judge/void_rules.h"

namespace plimsoll {
namespace {

int ExitCodeOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return 0;
    case Verdict::kFail:
      return 1;
    case Verdict::kTooClose:
      return 2;
    case Verdict::kNoData:
      return 3;
  }
  return 3;
}

TargetVerdict Say(Verdict verdict, std::string reason) {
  return {.verdict = verdict, .exit_code = ExitCodeOf(verdict), .reason = std::move(reason)};
}

TargetVerdict OfMeasured(const StepResult& step) {
  const std::uint32_t n = step.sessions;
  const std::string in_flight = InFlightWords(step.known_in_flight());
  switch (step.verdict.verdict) {
    case Verdict::kPass:
      return Say(Verdict::kPass, fmt::format("{} sessions hold{}", n, in_flight));
    case Verdict::kFail:
      return Say(Verdict::kFail,
                 fmt::format("{} sessions miss{}: {}", n, in_flight, FirstReason(step.verdict)));
    case Verdict::kTooClose:
      return Say(Verdict::kTooClose,
                 fmt::format("{} sessions are too close to call, leaning {}{}: {}", n,
                             LeanOf(step.verdict) == Lean::kPass ? "pass" : "fail", in_flight,
                             FirstReason(step.verdict)));
    case Verdict::kNoData:
      break;
  }
  return Say(Verdict::kNoData,
             fmt::format("{} sessions have no data: {}", n, FirstReason(step.verdict)));
}

// "10 hold (9.7 requests in flight)"
std::string Did(const StepResult& step, const char* what) {
  return fmt::format("{} {}{}", step.sessions, what, InFlightWords(step.known_in_flight()));
}

// The steps on either side of a target that was not measured; null: there is none.
struct Around {
  const StepResult* first_miss_below = nullptr;
  const StepResult* last_hold_below = nullptr;
  const StepResult* last_below = nullptr;
  const StepResult* first_miss_above = nullptr;
  const StepResult* last_hold_above = nullptr;
};

// `steps` ascending.
Around AroundOf(const std::vector<StepResult>& steps, std::uint32_t target) {
  Around around;
  for (const StepResult& step : steps) {
    const bool below = step.sessions < target;
    if (below) around.last_below = &step;
    if (step.verdict.verdict == Verdict::kPass) {
      (below ? around.last_hold_below : around.last_hold_above) = &step;
    }
    if (step.verdict.verdict != Verdict::kFail) continue;
    const StepResult*& miss = below ? around.first_miss_below : around.first_miss_above;
    if (miss == nullptr) miss = &step;
  }
  return around;
}

TargetVerdict OfUnmeasured(const std::vector<StepResult>& steps, std::uint32_t target) {
  const Around around = AroundOf(steps, target);
  const std::string not_run = fmt::format("{} sessions were not run", target);
  if (around.first_miss_below != nullptr && around.last_hold_above != nullptr) {
    return Say(Verdict::kTooClose,
               fmt::format("{}: {}, yet {}", not_run, Did(*around.first_miss_below, "miss"),
                           Did(*around.last_hold_above, "hold")));
  }
  if (around.first_miss_below != nullptr) {
    return Say(Verdict::kFail,
               fmt::format("{}: {}: {}", not_run, Did(*around.first_miss_below, "already miss"),
                           FirstReason(around.first_miss_below->verdict)));
  }
  if (around.last_hold_above != nullptr) {
    return Say(Verdict::kPass, not_run + ": " + Did(*around.last_hold_above, "hold"));
  }
  if (around.last_hold_below != nullptr && around.first_miss_above != nullptr) {
    return Say(Verdict::kTooClose,
               fmt::format("{}: {} and {}", not_run, Did(*around.last_hold_below, "hold"),
                           Did(*around.first_miss_above, "miss")));
  }
  const Verdict below =
      around.last_below == nullptr ? Verdict::kPass : around.last_below->verdict.verdict;
  if (below == Verdict::kTooClose || below == Verdict::kNoData) {
    return Say(below, not_run + ": " + OfMeasured(*around.last_below).reason);
  }
  return Say(Verdict::kNoData, not_run);
}

}  // namespace

std::string StoppedBy(const SweepHistory& history) {
  if (history.empty()) return "";
  if (history.back().ended_by != SweepEvent::kNone) {
    return std::string(Name(history.back().ended_by));
  }
  const StepVerdict& last = history.back().verdict;
  const bool refused = last.verdict == Verdict::kNoData && !last.is_void &&
                       last.sent_share < void_rules::kSentShareMin;
  return refused ? "refusals" : "";
}

TargetVerdict JudgeTarget(const SweepHistory& history, std::optional<std::uint32_t> target) {
  if (history.empty()) return Say(Verdict::kNoData, "no step was run");
  const std::vector<StepResult> steps = DecidedSteps(history);
  const std::uint32_t sessions = target.value_or(history.front().sessions);
  const auto measured = std::find_if(steps.begin(), steps.end(), [&](const StepResult& step) {
    return step.sessions == sessions;
  });
  return measured != steps.end() ? OfMeasured(*measured) : OfUnmeasured(steps, sessions);
}

}  // namespace plimsoll
