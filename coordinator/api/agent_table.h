// The agents of a live run as a table for a terminal.
#pragma once

#include <string>
#include <vector>

#include "coordinator/run/live_status.h"

namespace plimsoll {

// A header and a line an agent, by slot; "no agent has dialled in yet" without any. Ends with a
// newline. Pure.
std::string AgentTable(const std::vector<LiveAgent>& agents);

}  // namespace plimsoll
