// The grid of simulated cells and what they score, in parallel. Its results do not depend on how
// many threads work on it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/sim/calibration/score_cell.h"
#include "tests/sim/calibration/score_sweep.h"

namespace plimsoll {

struct GridOptions {
  std::vector<std::uint32_t> lanes{5, 10, 15, 40, 100};
  std::vector<std::uint32_t> blocks{3, 5, 10};
  double block_s = 60;
  std::vector<int> drift_s{10, 60, 300};
  std::vector<Mix> mixes{Mix::kLight, Mix::kMix, Mix::kHeavy};
  std::vector<double> offs{-0.10, -0.03, 0.03, 0.10};  // Of the long-run value from the limit.
  std::vector<double> overs{2,
                            0.98};  // Of the window's value to the limit, where steps fail early.
  std::vector<CalibratedPart> parts{CalibratedPart::kTtft, CalibratedPart::kInteractivity};
  CountedBy counted = CountedBy::kLanes;
  double quantile = 0.9;
  double load = 1;
  double refused = 0;
  std::uint64_t paths = 40;
  std::uint64_t replicates = 50;
  unsigned threads = 1;
};

std::vector<SimulatedCell> CellsOf(const GridOptions& options);

// steps[path][replicate] of one cell.
Crossed SimulateCrossed(const SimulatedCell& cell, const GridOptions& options);

struct CellScores {
  SimulatedCell cell;
  std::vector<PartScore> scores;  // Parts x offs.
};
// Calls `done` after each cell, in order.
std::vector<CellScores> Calibrate(const GridOptions& options,
                                  const std::function<void(const CellScores&)>& done);

// A sweep over `sessions` on an engine sized for `cell.lanes`, sweeps[path][replicate].
CrossedSweeps SimulateCrossedSweeps(const SimulatedCell& cell,
                                    const std::vector<std::uint32_t>& sessions,
                                    const GridOptions& options);

std::vector<PartScore> ScoresOf(
    const std::vector<CellScores>& cells,
    const std::function<bool(const SimulatedCell&, CalibratedPart)>& of);

}  // namespace plimsoll
