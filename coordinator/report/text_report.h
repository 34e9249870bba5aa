// The report for a terminal: UTF-8 without colour, at most 100 columns, verdict first.
#pragma once

#include <string>

#include "coordinator/report/report_model.h"

namespace plimsoll {

// "TTFT P90 <= 5.3 s · errors <= 2%".
std::string BarSentence(const Bar& bar);

// Ends with a newline. Pure.
std::string TextReport(const ReportModel& model);

}  // namespace plimsoll
