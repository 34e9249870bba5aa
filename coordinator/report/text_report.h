// The report for a terminal: UTF-8 without colour, at most 100 columns, verdict first.
#pragma once

#include <string>

#include "coordinator/report/report_model.h"

namespace plimsoll {

// Ends with a newline. Pure.
std::string TextReport(const ReportModel& model);

}  // namespace plimsoll
