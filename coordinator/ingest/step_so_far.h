// A step's numbers while it runs, from the cells so far: for progress, never for a verdict. Asked
// about once a second, so it reads the cells and costs a record nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/judge/cell.h"

namespace plimsoll {

// Calls of the measured time whose last attempt has ended.
struct StepSoFar {
  std::uint64_t ttft_n = 0;  // With a first token, or failed (infinite).
  Percentile ttft_p90_ns;
  Percentile ttft_asked_ns;  // At the quantile asked for.
  std::uint64_t rate_n = 0;  // With an interactivity, or failed (0).
  // Thousandths of tokens/s that 90% of the calls reach or beat.
  std::optional<std::int64_t> rate_p90_mtok_s;
  std::optional<std::int64_t> rate_asked_mtok_s;  // The share asked for.
};

// Equal to what the merged histograms of `cells` say. Time: the cells and their buckets, once.
StepSoFar SoFar(const std::vector<Cell>& cells, double ttft_quantile, double rate_share);

}  // namespace plimsoll
