// What a coordinator shows on its /metrics page. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/metrics/metrics_page.h"
#include "coordinator/api/run_view.h"

namespace plimsoll {

// Runs that the store keeps, by RunState; the first is unused.
using RunCounts = std::array<std::uint64_t, 5>;
RunCounts CountRuns(const std::vector<RunInfo>& runs);

// Every name begins with "plimsoll_" and is documented in docs/api.md. Series of the run are there
// only while one is going on here: a number that is absent has no sample.
std::vector<MetricSeries> CoordinatorMetrics(const RunCounts& runs,
                                             const std::optional<LiveRun>& live);

}  // namespace plimsoll
