// What a text report says of the servers' side. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/report/report_model.h"

namespace plimsoll {

// "engines pass: …; gateway no data: …": what servers say of part `part`, in one line; empty: none
// was asked, or none can have it.
std::string ServerPartText(const ServerSummary& server, std::size_t part);

// Labels and lines about the servers' side of one step: figures, restarts, what cannot be right,
// what ends the sweep.
std::vector<std::pair<std::string, std::string>> ServerLines(const ServerSummary& server);

// "wanted and not got", each line once with the steps that it is about.
std::vector<std::string> NotGotLines(const ReportModel& model);

}  // namespace plimsoll
