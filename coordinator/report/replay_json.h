// The replay of a step as JSON text. Part of json_report.
#pragma once

#include <string>

#include "coordinator/judge/replay_summary.h"

namespace plimsoll {

// "null" where nothing is known; what lanes counted is null unless they have `told` of it.
std::string ReplayJson(const ReplaySummary& replay, bool told);

}  // namespace plimsoll
