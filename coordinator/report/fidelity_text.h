// What a report says about how true the replay was to its plan, as the server's usage tells. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coordinator/judge/step_summary.h"

namespace plimsoll {

// Label and text of each line: output lengths, prompt lengths, tool calls, reasoning, impossible
// usage. What of it looks wrong is a suspicion (coordinator/judge/suspicion.h).
std::vector<std::pair<std::string, std::string>> FidelityLines(const FidelitySummary& fidelity);

}  // namespace plimsoll
