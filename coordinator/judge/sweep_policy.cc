#include "coordinator/judge/sweep_policy.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace plimsoll {
namespace {

SweepDecision Stop(std::string reason) {
  return {.kind = SweepDecision::Kind::kStop, .reason = std::move(reason)};
}

// The smallest planned number above `sessions`.
SweepDecision Climb(std::uint32_t sessions, const std::vector<std::uint32_t>& planned,
                    const std::string& why) {
  std::uint32_t next = 0;
  for (const std::uint32_t candidate : planned) {
    if (candidate > sessions && (next == 0 || candidate < next)) next = candidate;
  }
  if (next == 0) return Stop(why + "; every planned step was run");
  return {.kind = SweepDecision::Kind::kRun,
          .sessions = next,
          .reason = fmt::format("{}; next {}", why, next)};
}

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

std::string FirstReason(const StepVerdict& step) {
  return step.reasons.empty() ? std::string("no reason given") : step.reasons.front();
}

TargetVerdict OfMeasured(const StepResult& step) {
  const std::uint32_t n = step.sessions;
  switch (step.verdict.verdict) {
    case Verdict::kPass:
      return Say(Verdict::kPass, fmt::format("{} sessions hold", n));
    case Verdict::kFail:
      return Say(Verdict::kFail, fmt::format("{} sessions miss: {}", n, FirstReason(step.verdict)));
    case Verdict::kTooClose:
      return Say(Verdict::kTooClose,
                 fmt::format("{} sessions are too close to call, leaning {}: {}", n,
                             LeanOf(step.verdict) == Lean::kPass ? "pass" : "fail",
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

SweepDecision NextStep(const SweepHistory& history, const std::vector<std::uint32_t>& planned) {
  if (history.empty()) {
    if (planned.empty()) return Stop("no step is planned");
    return Climb(0, planned, "nothing was run yet");
  }
  const StepResult& last = history.back();
  const std::uint32_t n = last.sessions;
  switch (last.verdict.verdict) {
    case Verdict::kPass:
      return Climb(n, planned, fmt::format("{} sessions hold", n));
    case Verdict::kFail:
      return Stop(fmt::format("{} sessions miss: {}", n, PartsWith(last.verdict, Verdict::kFail)));
    case Verdict::kTooClose:
      if (LeanOf(last.verdict) == Lean::kPass) {
        return Climb(n, planned, fmt::format("{} sessions are too close to call, leaning pass", n));
      }
      return Stop(fmt::format("{} sessions are too close to call, leaning fail", n));
    case Verdict::kNoData:
      break;
  }
  const bool repeated = history.size() >= 2 && history[history.size() - 2].sessions == n;
  if (repeated) return Stop(fmt::format("{} sessions gave no data twice", n));
  return {.kind = SweepDecision::Kind::kRepeat,
          .sessions = n,
          .reason = fmt::format("{} sessions gave no data: {}", n, FirstReason(last.verdict))};
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
