// The run machine's next step: what the sweep's policy decides of its state, and the state of the
// step that follows; and what a run ends with. Part of run_machine; pure.
#pragma once

#include <string>

#include "coordinator/judge/sweep_policy.h"
#include "coordinator/run/run_machine.h"

namespace plimsoll {

// Of the present ladder. `event` is what its last step met.
SweepDecision DecideNext(const RunSettings& settings, const MachineState& state,
                         SweepEvent event = SweepEvent::kNone);

// Sets step, note, origin, and whether it is looked at early or its lanes are all new. `decision`
// is no stop.
void SetNextStep(const RunSettings& settings, const SweepDecision& decision, MachineState* state);

// Whether nothing is measured any more.
bool IsEnding(RunPhase phase);
// Of the mix's steps so far.
TargetVerdict MixVerdict(const RunSettings& settings, const MachineState& state);
// Sets what the run will end with: `code` and `reason`, unless what ended it before weighs as much.
void TakeEnd(const RunSettings& settings, ExitCode code, std::string reason, MachineState* state);

}  // namespace plimsoll
