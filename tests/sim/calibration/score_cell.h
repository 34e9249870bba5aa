// How right the judge's intervals are about simulated steps whose truth is known from their
// replicates (docs/statistics.md, "How often it is right"). Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/sim/calibration/score_value.h"
#include "tests/sim/calibration/simulate_cell.h"

namespace plimsoll {

const char* Name(CalibratedPart part);

// Of one part at one limit, over all paths and replicates of a cell. Shares are of the steps that
// had data; a replicate's truth is the share of the other replicates' calls on its path.
struct PartScore {
  CalibratedPart part = CalibratedPart::kTtft;
  double off = 0;  // The long-run value lies this share from the limit; positive is worse.
  std::uint64_t steps = 0;
  std::uint64_t no_data = 0;  // Steps with fewer calls than the percentile needs.
  double covered = 0;
  double above = 0;             // The interval lies above the truth …
  double below = 0;             // … or below it.
  double covered_error = 0;     // Standard error of `covered`, paths as clusters.
  double covered_long_run = 0;  // Of the share over all paths.
  double confident_wrong = 0;   // A pass although the truth misses, or a fail although it holds.
  double confident_wrong_error = 0;
  double too_close = 0;
  double failed = 0;  // Confident fails.
  double oracle_failed =
      0;  // Of an interval of 1.96 standard deviations over the path's replicates.
  // Of latency parts: the percentile's own interval contains the percentile of the other replicates
  // on the path, and how often an end of it is open.
  double value_covered = 0;
  double value_open = 0;
  double width = 0;         // Mean width of the interval.
  double oracle_width = 0;  // 2 x 1.96 standard deviations of the share over replicates on a path.
  double oracle_error = 0;  // Standard error of oracle_width, paths as clusters.
  double ratio() const { return oracle_width > 0 ? width / oracle_width : 0; }
  double ratio_error() const {
    return oracle_width > 0 ? ratio() * oracle_error / oracle_width : 0;
  }
};

// steps[path][replicate], at least two of each.
using Crossed = std::vector<std::vector<SimulatedStep>>;

// Of a mean over paths, each counting as one; 0 of fewer than two.
double StandardError(const std::vector<double>& by_path);

// The long-run value of the quantile (interactivity: reached by that share), or the error share.
double LongRunValue(const std::vector<const SimulatedStep*>& steps, CalibratedPart part,
                    double quantile = 0.9);

// How the calls are known that the interval of their share rests on.
enum class CountedBy : std::uint8_t {
  kLanes,   // By lane and half-block, as the client has them.
  kBlocks,  // In total by block, as a server's histogram with an edge at the limit has them; then
            // no value has an interval.
};

struct ScoreOptions {
  std::vector<double> offs;  // The limit is set so that the long-run value is that much worse.
  double quantile = 0.9;
  Duration half_block = 30s;  // Of the cells.
  CountedBy counted = CountedBy::kLanes;
};
std::vector<PartScore> ScoreParts(const Crossed& steps, CalibratedPart part,
                                  const ScoreOptions& options);
// Of one off.
PartScore ScorePart(const Crossed& steps, CalibratedPart part, double off);

// Weighted by steps with data; ratio: the median cell's.
struct Pooled {
  double covered = 0;
  double covered_worst = 1;
  double covered_long_run = 0;
  double confident_wrong = 0;
  double confident_wrong_worst = 0;
  double too_close = 0;
  double value_covered = 0;  // Of latency parts.
  double value_covered_worst = 1;
  double value_open = 0;
  double ratio_median = 0;
  double ratio_worst = 0;
  std::uint64_t steps = 0;
};
Pooled Pool(const std::vector<PartScore>& scores);

}  // namespace plimsoll
