#include "coordinator/run/step_planning.h"

#include <fmt/format.h>

#include "common/base/limits.h"
#include "coordinator/run/ladders.h"

namespace plimsoll {

SweepDecision DecideNext(const RunSettings& settings, const MachineState& state, SweepEvent event) {
  if (state.steps_made >= limits::kStepsMax) {
    return {.reason = fmt::format("{} steps were run, no more are possible", limits::kStepsMax),
            .ends_run = true};
  }
  return NextStep(OfLadder(state.history, LadderName(settings, state.ladder)),
                  RulesOf(settings, state.ladder, state.elapsed), event);
}

void PlanStep(const RunSettings& settings, const SweepDecision& decision, MachineState& state) {
  const bool repeats = decision.kind == SweepDecision::Kind::kRepeat;
  // What was cut short and then had no data is measured whole.
  state.look = !repeats || !state.origin.failed_early_after;
  const bool planned = decision.kind == SweepDecision::Kind::kRun;
  state.origin = {.kind = KindOf(decision.kind),
                  .ladder = LadderName(settings, state.ladder),
                  .reason = decision.reason,
                  .failed_early_after = {}};
  state.step_note = planned ? "" : decision.reason;
  state.step = settings.step;
  state.step.sessions = decision.sessions;
  const bool extends = decision.kind == SweepDecision::Kind::kExtend;
  if (extends) state.step.warm_up = state.step.prime_limit = Duration{0};
  const bool first_of_tier =
      state.ladder > 0 && OfLadder(state.history, state.origin.ladder).empty();
  state.fresh = state.steps_made > 0 && !extends && (settings.drain_between_steps || first_of_tier);
}

}  // namespace plimsoll
