// What agents said of themselves and of their machines, as rows for other programs: a line an
// agent, a step; in the form of export_rows. Pure.
#pragma once

#include <string>

#include "coordinator/report/export_rows.h"

namespace plimsoll {

// The first line of a CSV file; empty for JSON lines.
std::string AgentHeader(RowForm form);
// A line for each agent of the step.
void AppendAgents(RowForm form, const StepRow& row, std::string* out);

}  // namespace plimsoll
