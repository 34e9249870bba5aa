// A run's hooks as text. Part of run_report.
#pragma once

#include <string>

#include "coordinator/report/report_model.h"

namespace plimsoll {

// A failed rollback, with what to do: before everything else. Empty: there is none.
std::string RollbackShout(const ReportModel& model);

// A line for each start of a hook and the last lines of what a bad one wrote. Empty without any.
// Ends with a newline.
std::string HookText(const ReportModel& model);

}  // namespace plimsoll
