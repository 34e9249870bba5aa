#include "coordinator/run/machine_step.h"

#include <utility>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "coordinator/run/ladders.h"
#include "coordinator/run/run_words.h"
#include "coordinator/run/window_budget.h"

namespace plimsoll {

SweepDecision DecideNext(const RunSettings& settings, const MachineState& state, SweepEvent event) {
  if (state.steps_made >= limits::kStepsMax) {
    return {.reason = fmt::format("{} steps were run, no more are possible", limits::kStepsMax),
            .ends_run = true};
  }
  SweepRules rules = RulesOf(settings, state.ladder, state.elapsed);
  if (settings.window) {
    const Duration left = MeasuringTime(settings) - state.now;
    rules.left_of_window = !rules.left || left < *rules.left;
    if (rules.left_of_window) rules.left = left;
  }
  return NextStep(OfLadder(state.history, LadderName(settings, state.ladder)), rules, event);
}

void SetNextStep(const RunSettings& settings, const SweepDecision& decision, MachineState* state) {
  MachineState& s = *state;
  const bool repeats = decision.kind == SweepDecision::Kind::kRepeat;
  // What was cut short and then had no data is measured whole.
  s.look = !repeats || !s.origin.failed_early_after;
  const bool planned = decision.kind == SweepDecision::Kind::kRun;
  s.origin = {.kind = KindOf(decision.kind),
              .ladder = LadderName(settings, s.ladder),
              .reason = decision.reason,
              .failed_early_after = {}};
  s.step_note = planned ? "" : decision.reason;
  s.step = settings.step;
  s.step.sessions = decision.sessions;
  const bool extends = decision.kind == SweepDecision::Kind::kExtend;
  if (extends) s.step.warm_up = s.step.prime_limit = Duration{0};
  const bool first_of_tier = s.ladder > 0 && OfLadder(s.history, s.origin.ladder).empty();
  s.fresh = s.steps_made > 0 && !extends && (settings.drain_between_steps || first_of_tier);
}

bool IsEnding(RunPhase phase) {
  return phase == RunPhase::kStop || phase == RunPhase::kSettle || phase == RunPhase::kPromote ||
         phase == RunPhase::kRollBack || phase == RunPhase::kDone;
}

std::string VerdictForHooks(const RunSettings& settings, const MachineState& state) {
  if (state.history.empty()) return "none";
  switch (MixVerdict(settings, state).verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kTooClose:
      return "too_close";
    case Verdict::kNoData:
      break;
  }
  return "no_data";
}

TargetVerdict MixVerdict(const RunSettings& settings, const MachineState& state) {
  return JudgeTarget(OfLadder(state.history, kMixLadder), settings.target);
}

void TakeEnd(const RunSettings& settings, ExitCode code, std::string reason, MachineState* state) {
  MachineState& s = *state;
  // What was measured beyond the mix's verdict may be lost; the verdict stands.
  const bool mix_is_decided = !s.mix_end.empty() || s.origin.kind == StepKind::kRefinement;
  if (code == ExitCode::kNoData && mix_is_decided) {
    const TargetVerdict mix = MixVerdict(settings, s);
    code = static_cast<ExitCode>(mix.exit_code);
    const std::string& first = s.mix_end.empty() ? mix.reason : s.mix_end;
    if (reason != first) reason = fmt::format("{}; then {}", first, reason);
  }
  // Of equals, what ended the run first keeps its reason.
  if (IsEnding(s.phase) && Precedence(code) <= Precedence(s.end_code)) return;
  s.end_code = code;
  s.end_reason = std::move(reason);
}

}  // namespace plimsoll
