#include "coordinator/judge/sweep_policy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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
  const std::optional<double> known = step.known_in_flight();
  const std::string in_flight = known ? fmt::format(" ({:.1f} requests in flight)", *known) : "";
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

TargetVerdict OfUnmeasured(const std::vector<StepResult>& steps, std::uint32_t target) {
  const StepResult* miss_below = nullptr;
  const StepResult* hold_above = nullptr;
  bool hold_below = false;
  bool miss_above = false;
  const StepResult* last_below = nullptr;
  for (const StepResult& step : steps) {
    const bool below = step.sessions < target;
    const Verdict verdict = step.verdict.verdict;
    if (below) last_below = &step;
    if (below && verdict == Verdict::kFail && miss_below == nullptr) miss_below = &step;
    if (!below && verdict == Verdict::kPass) hold_above = &step;
    hold_below = hold_below || (below && verdict == Verdict::kPass);
    miss_above = miss_above || (!below && verdict == Verdict::kFail);
  }
  const std::string not_run = fmt::format("{} sessions were not run", target);
  if (miss_below != nullptr && hold_above != nullptr) {
    return Say(Verdict::kTooClose, fmt::format("{}: {} miss, yet {} hold", not_run,
                                               miss_below->sessions, hold_above->sessions));
  }
  if (miss_below != nullptr) {
    return Say(Verdict::kFail, fmt::format("{}: {} already miss: {}", not_run, miss_below->sessions,
                                           FirstReason(miss_below->verdict)));
  }
  if (hold_above != nullptr) {
    return Say(Verdict::kPass, fmt::format("{}: {} hold", not_run, hold_above->sessions));
  }
  if (hold_below && miss_above) {
    return Say(Verdict::kTooClose, not_run + ": a lower step holds and a higher one misses");
  }
  if (last_below != nullptr && last_below->verdict.verdict == Verdict::kTooClose) {
    return Say(Verdict::kTooClose, not_run + ": " + OfMeasured(*last_below).reason);
  }
  if (last_below != nullptr && last_below->verdict.verdict == Verdict::kNoData) {
    return Say(Verdict::kNoData, not_run + ": " + OfMeasured(*last_below).reason);
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
