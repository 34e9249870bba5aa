// The interval of the percentile itself, as the judge forms it, of simulated steps: from the calls
// that replicates left behind. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/judge/value_interval.h"
#include "tests/sim/calibration/simulate_cell.h"

namespace plimsoll {

enum class CalibratedPart : std::uint8_t { kTtft, kInteractivity, kErrors };

// What one path's replicates left of a latency part; no limit is in it.
struct PathValues {
  std::vector<Histogram> values;         // Of each replicate, in the metric's unit of histograms.
  std::vector<std::uint64_t> valueless;  // Failed calls without a value.
  // The percentile of the other replicates' calls; +infinity among failed ones. NaN: there is none.
  std::vector<double> truths;
};
PathValues ValuesOf(const std::vector<SimulatedStep>& replicates, CalibratedPart part,
                    double quantile);

// Of a step with `interval` for the share of `cells`, those within the limit.
ValueInterval IntervalOfValue(const SimulatedStep& step, CalibratedPart part, const Limit& limit,
                              const std::vector<ShareCell>& cells, const ShareInterval& interval,
                              const Histogram& values, std::uint64_t valueless,
                              Duration half_block);

// Open ends hold everything.
bool Contains(const ValueInterval& interval, double value);

// The cells of one step at a limit of a latency part.
std::vector<ShareCell> CellsAt(const SimulatedStep& step, CalibratedPart part, double limit);

// The number that a latency part judges a call by; NaN: it has none.
float ValueOf(const SimulatedCall& call, CalibratedPart part);

}  // namespace plimsoll
