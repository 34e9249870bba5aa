// What servers said, and did not say, in words. Pure.
#pragma once

#include <string>
#include <vector>

#include "coordinator/judge/server_summary.h"

namespace plimsoll {

// "engines: TTFT of engine-1: the page could not be read (connection refused)".
std::string Words(const NotGotSignal& missing);
// "engines: engine-1: the process restarted (its start time moved)".
std::string Words(const TargetOutcome& outcome);
// "the deployment is back where it was before the run, after 2.5s", or what is not.
std::string Words(const DrainSummary& drain);
// "running 8.2 (at most 12), waiting 0, KV cache fill 41% (at most 61%); 612 accepted, 3 errors";
// empty: the source shows nothing.
std::string FiguresText(const ServerSummary& server, PartSource source);

}  // namespace plimsoll
