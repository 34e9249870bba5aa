// A run's hooks as text. Part of run_report.
#pragma once

#include <string>

#include "coordinator/report/report_model.h"

namespace plimsoll {

// A line for each start of a hook and the last lines of what a bad one wrote; a failed rollback
// first, with what to do. Empty without any. Ends with a newline.
std::string HookText(const ReportModel& model);

}  // namespace plimsoll
