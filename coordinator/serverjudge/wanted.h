// Which signals a bar, and the sweep itself, want of which source, and which of them were not got.
// Pure.
#pragma once

#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/serverjudge/source_step.h"

namespace plimsoll {

// In a fixed order; each once. `limits` are those that the step is judged by.
std::vector<Signal> WantedOf(PartSource source, const std::vector<Limit>& limits);

// One entry for each wanted signal and target that lacks it, in some measured time, or whose
// counters did not count on. A copy that was idle lacks nothing.
std::vector<NotGotSignal> NotGotOf(const SourceStep& source, const std::vector<Signal>& wanted);

}  // namespace plimsoll
