// A step's agents as text: what each did, and what its machine did meanwhile. Part of text_report.
#pragma once

#include <string>

#include "coordinator/judge/step_summary.h"

namespace plimsoll {

// A table of a line an agent and, where any agent's system tells of its machine, a second one.
// Empty without agents. Pure.
std::string AgentTables(const StepSummary& step);

}  // namespace plimsoll
