// The run machine's next step: what the sweep's policy decides of its state, and the state of the
// step that follows. Part of run_machine; pure.
#pragma once

#include "coordinator/judge/sweep_policy.h"
#include "coordinator/run/run_machine.h"

namespace plimsoll {

// Of the present ladder. `event` is what its last step met.
SweepDecision DecideNext(const RunSettings& settings, const MachineState& state,
                         SweepEvent event = SweepEvent::kNone);

// Sets step, note, origin, and whether it is looked at early or its lanes are all new. `decision`
// is no stop.
void SetNextStep(const RunSettings& settings, const SweepDecision& decision, MachineState* state);

}  // namespace plimsoll
