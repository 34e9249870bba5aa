// How often the interval of a whole sweep's capacity contains the truth, which the other replicates
// on the same path give (docs/statistics.md, "How often it is right"). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/judge/capacity.h"
#include "coordinator/judge/sweep_policy.h"
#include "tests/sim/calibration/score_cell.h"

namespace plimsoll {

// Every step of a sweep was run, whatever it showed; the policy decides afterwards where it would
// have stopped. sweeps[path][replicate][step].
using CrossedSweeps = std::vector<std::vector<std::vector<SimulatedStep>>>;

struct SweepScore {
  std::optional<CapacityEnd> at;  // Where the long run crosses its limit.
  std::uint64_t sweeps = 0;       // With a capacity.
  std::uint64_t none = 0;         // Without any step that had data.
  double covered = 0;             // The interval contains the window's truth.
  double covered_error = 0;       // Standard error, paths as clusters.
  double covered_long_run = 0;    // … the truth over all paths.
  double open_below = 0;          // The low end is open …
  double open_above = 0;          // … the high end is.
  std::uint64_t closed = 0;       // Neither is,
  double closed_covered = 0;      // and of these so many contain the window's truth.
  double width_sessions = 0;      // Their mean width.
  double truth_mean = 0;          // Of the windows' truths that lie between the steps.
  double named = 0;               // The part that limits the truth is the one named.
};

// Two latency limits at which the long run's share is 0.9 between steps: `place` 0 is the first
// step's number of sessions, 1 the last's.
Bar SweepBar(const CrossedSweeps& sweeps, double place);

SweepScore ScoreSweep(const CrossedSweeps& sweeps, const std::vector<std::uint32_t>& sessions,
                      const Bar& bar);

// Where the shares over all paths and replicates cross the bar; nothing without a call. On sweeps
// in finer steps it tells what straight lines between coarse ones leave out.
std::optional<CapacityEnd> LongRunCrossing(const CrossedSweeps& sweeps,
                                           const std::vector<std::uint32_t>& sessions,
                                           const Bar& bar);

// The verdict of one simulated step at a bar of TTFT and interactivity.
StepVerdict JudgeSimulated(const SimulatedStep& step, const Bar& bar);

}  // namespace plimsoll
