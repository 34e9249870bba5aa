// A step's numbers while it runs, from the cells so far: for progress, never for a verdict. Asked
// about once a second, so it reads the cells and costs a record nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/judge/cell.h"
#include "coordinator/judge/metrics.h"

namespace plimsoll {

// One limit of the bar so far.
struct LimitSoFar {
  Limit limit;
  std::uint64_t n = 0;  // As PartVerdict counts them.
  MetricValue value;    // At the limit's quantile; the share of bad ones.
};

// Calls of the measured time whose last attempt has ended.
struct StepSoFar {
  std::uint64_t ttft_n = 0;  // With a first token, or failed (infinite).
  Percentile ttft_p90_ns;
  std::uint64_t rate_n = 0;  // With an interactivity, or failed (0).
  // Thousandths of tokens/s that 90% of the calls reach or beat.
  std::optional<std::int64_t> rate_p90_mtok_s;
  std::vector<LimitSoFar> parts;  // By the bar's limits. Calls never sent are not known yet.
};

// Equal to what the merged histograms of `cells` say. Time: the cells and their buckets, once for
// each metric and tier of the bar.
StepSoFar SoFar(const std::vector<Cell>& cells, const Bar& bar,
                const std::vector<std::string>& tier_names);

}  // namespace plimsoll
