// What a report says about how true the load was to the recorded sessions. Pure.
#pragma once

#include <string>
#include <vector>

#include "coordinator/judge/replay_summary.h"

namespace plimsoll {

// What the context limit left out, by tier; empty where there is no limit.
std::string ContextSentence(const ReplaySummary& replay);

// Lines about one step: pauses that think time removed, whose text the histories held. Empty where
// there is nothing to say.
std::vector<std::string> ReplaySentences(const ReplaySummary& replay);

}  // namespace plimsoll
