// A step's agents as text: what each did, and what its machine did meanwhile. Part of text_report.
#pragma once

#include <string>

#include "coordinator/judge/step_summary.h"

namespace plimsoll {

// A table of a line an agent, and the one below. Empty without agents. Pure.
std::string AgentTables(const StepSummary& step);

// Of the agents whose systems tell of their machines. Empty: none does.
std::string HostTable(const StepSummary& step);

}  // namespace plimsoll
