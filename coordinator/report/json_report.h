// The report for machines: one JSON object, keys with units (docs/statistics.md defines the
// numbers). What is absent is null; an infinite percentile is null with "infinite": true beside.
#pragma once

#include <string>

#include "coordinator/report/report_model.h"

namespace plimsoll {

// Indented by two, keys in alphabetical order, ends with a newline. Text that is not UTF-8 is
// mended, numbers that JSON cannot hold are null. Pure.
std::string JsonReport(const ReportModel& model);

}  // namespace plimsoll
