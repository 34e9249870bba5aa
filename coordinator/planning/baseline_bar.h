// A bar with limits relative to baseline runs becomes a bar of numbers, each with the interval that
// the runs' spread gives it. Pure: what the store keeps of the runs is an argument.
//
// With x the value of a limit's number in one run's step, over its calls: the limit is factor times
// the geometric mean of the x, and its 95% interval is that of the mean of log x, by Student's t
// over the runs. One run has no spread to learn from, so its limit has no interval.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "coordinator/judge/bar.h"
#include "coordinator/judge/cell.h"
#include "coordinator/judge/step_summary.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

// A step of a baseline run, with the sessions that were asked for.
struct BaselineStep {
  StepSummary summary;
  std::vector<Cell> cells;
};

struct BaselineRun {
  std::string id;
  std::string corpus_digest;
  std::vector<std::string> recipe;      // Digests of its recipe's files; empty: none is kept.
  Scenario scenario;                    // Of that run.
  std::vector<std::uint32_t> sessions;  // Of all its steps.
  std::vector<BaselineStep> steps;      // In the order in which they ran.
};

// The runs that relative limits name, as they are written, and the step that they name; empty where
// the bar is of numbers, or has its numbers already.
struct BaselineAsked {
  std::vector<std::string> runs;
  std::uint32_t sessions = 0;
};
BaselineAsked BaselinesOf(const Bar& bar);

// The scenario's bar with every relative limit's value, origin and interval. `runs` are those that
// the bar names, in its order. InvalidArgument, a line for each thing that is wrong, each with what
// to do: runs of several recipes or models, another corpus, mix, replay or warm-up, a step that was
// not measured or says nothing, a number that it does not have.
StatusOr<Bar> ResolveBar(const Scenario& scenario, const std::string& corpus_digest,
                         const std::vector<BaselineRun>& runs);

// What is not known of baseline runs that are averaged, a sentence each: of which no recipe is
// kept.
std::vector<std::string> BaselineDoubts(const std::vector<BaselineRun>& runs);

}  // namespace plimsoll
