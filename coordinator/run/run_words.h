// The run machine's longer sentences: why agents are waited for in vain, and what to do about it.
// Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "coordinator/run/run_machine.h"

namespace plimsoll {

// Which of two codes a run ends with: the higher one (design section 10: internal, stopped, could
// not run, then the verdict's).
int Precedence(ExitCode code);

// "agent 1 (local-01.2)"; without the name while it is not known.
std::string AgentName(const MachineState& state, std::uint32_t slot);
// The same of several: "agent 0 (a), agent 1 (b)".
std::string AgentNames(const MachineState& state, const std::set<std::uint32_t>& slots);

// Agents that are connected and alive, or they would be lost, have not done `what` within `limit`.
std::string NotReady(const MachineState& state, std::string_view what, Duration limit);
// The fleet is not complete at the end of its time.
std::string NotGathered(const RunSettings& settings, const MachineState& state);
// Agents have not ended their part of the mini run of evals in time.
std::string EvalsLate(const MachineState& state);
// Lost agents had no successor at the end of their time.
std::string NotReplaced(const RunSettings& settings, const MachineState& state);
// What the `count`-th signal does.
std::string StopWords(int count);

}  // namespace plimsoll
