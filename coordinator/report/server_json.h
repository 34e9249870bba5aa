// What is known of the deployment itself as JSON text: preflight, the servers' side of steps, the
// drain. Parts of json_report. Pure.
#pragma once

#include <string>

#include "coordinator/judge/preflight_summary.h"
#include "coordinator/judge/server_summary.h"

namespace plimsoll {

// Each is an object.
std::string PreflightJson(const PreflightSummary& preflight);
std::string ServerJson(const ServerSummary& server, const StepVerdict& step);
std::string DrainJson(const DrainSummary& drain);

}  // namespace plimsoll
