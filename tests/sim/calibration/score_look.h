// What failing a step early saves, and how often it fails a step that lies inside the bar
// (docs/statistics.md, "Failing early"). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/calibration/score_cell.h"

namespace plimsoll {

struct LookScore {
  CalibratedPart part = CalibratedPart::kTtft;
  double over = 1;  // The window's percentile is so many times the limit; under 1: inside the bar.
  std::uint64_t steps = 0;
  std::vector<double> ended_after;  // Share of the steps ended after so many blocks.
  double ended = 0;                 // Their sum.
  double ended_error = 0;           // Standard error, paths as clusters.
  double missed = 0;                // Share that fails, at a look or in the end.
  double saved = 0;                 // Of the warm-up and measured time of those.
  double saved_error = 0;
};

// Each step is looked at as it would be while it runs, at a bar of TTFT,
// interactivity and 2% errors, of which the other latency is far inside; the limit is set on each
// path by the percentile over all its replicates.
LookScore ScoreLooks(const Crossed& steps, const SimulatedCell& cell, CalibratedPart part,
                     double over);

}  // namespace plimsoll
