// Runs as text for a terminal: the list, and how one ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/store/run_repo.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

// What is known of a run's coordinator, for runs that have not ended.
enum class Liveness : std::uint8_t {
  kUnknown,  // Nobody looked.
  kLive,     // A coordinator is at it.
  kDead,     // None is: it died.
};

// "finished, exit 0" · "running" · "broken off: its coordinator died" · …
std::string Ending(const RunInfo& run, Liveness liveness);

// Two lines a run, in the order given; `live` is the id of the run that a coordinator is at, empty
// for none. "no runs" without any. Ends with a newline. Pure.
std::string RunList(const std::vector<RunInfo>& runs, std::string_view live);

// The run's log, a line each.
std::string LogText(const std::vector<RunLogLine>& log);

}  // namespace plimsoll
