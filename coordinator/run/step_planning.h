// What the sweep decided, as the step that comes next. Pure; part of the run machine.
#pragma once

#include "coordinator/judge/sweep_policy.h"
#include "coordinator/run/run_machine.h"

namespace plimsoll {

// What the policy says of the present ladder; a stop where no run may have more steps.
SweepDecision DecideNext(const RunSettings& settings, const MachineState& state, SweepEvent event);

// Sets the state's step, its origin and note, and whether its lanes are all new and whether it may
// be failed early. `decision` is not a stop.
void PlanStep(const RunSettings& settings, const SweepDecision& decision, MachineState& state);

}  // namespace plimsoll
