// What an agent shows on its /metrics page. Pure.
#pragma once

#include <vector>

#include "agent/control/agent.h"
#include "common/metrics/metrics_page.h"

namespace plimsoll {

// What the process saw of itself.
struct AgentSelf {
  Duration loop_lag_last_second{};  // Worst of the last whole second.
  Duration loop_lag_max{};          // Since its step's measured time began.
  double cpu_share_max = 0;         // Of one core; likewise.
};

// Every name begins with "plimsoll_agent_" and is documented in docs/api.md. Counters are there
// from the start, at zero.
std::vector<MetricSeries> AgentMetrics(const AgentNow& now, const AgentSelf& self);

}  // namespace plimsoll
