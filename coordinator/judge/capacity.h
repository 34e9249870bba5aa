// The capacity of a sweep: one number of sessions with a 95% interval, and what limits it, never
// beyond what was measured (design section 3). Pure.
//
// For each part of the bar, over the steps that have data for it:
//   value  where the share of calls within the limit, fitted (crossing.h; weighted by calls),
//          crosses what the bar asks for; of errors and tool calls, where the share of bad ones
//          crosses its limit.
//   low    the same of the share's unfavourable 95% edge.
//   high   the same of its favourable edge.
// The capacity's value is the smallest of the parts' values, and that part limits it; its low end
// is the smallest of the parts' low ends, its high end the smallest of their high ends. A part that
// was not crossed up to the last step that had data for it bounds the low end by that step.
//
// The fit never overrides a verdict. Then, for each part with its own verdicts, and for the whole
// with the steps':
//   low  >= the last step that passed below the first that failed;
//   high <  the first step that failed above the last that passed;
//   low  <  any step between these two that is too close to call, and high >= it;
//   where a step failed and a higher one passed, both stand: low < the one, high >= the other;
//   the value is moved into [low, high].
// Steps without data say nothing. Whole sessions are rounded down.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "coordinator/judge/capacity_value.h"
#include "coordinator/judge/step_origin.h"
#include "coordinator/judge/sweep_event.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// A step of a sweep that is over, as the sweep's rules see it.
struct StepResult {
  std::uint32_t sessions = 0;
  StepVerdict verdict;
  double requests_in_flight = 0;  // Mean over the measured time.
  StepOrigin origin;
  SweepEvent ended_by =
      SweepEvent::kNone;  // What it met that ends the sweep, whatever its verdict.
  // Absent where nobody told: a step that was judged had calls open.
  std::optional<double> known_in_flight() const;
};
using SweepHistory = std::vector<StepResult>;  // In the order in which they ran, repeats included.

// Of a run's steps those of one ladder.
SweepHistory OfLadder(const SweepHistory& history, std::string_view ladder);

// One result for each number of sessions, ascending: the last one that has data, else the last.
std::vector<StepResult> DecidedSteps(const SweepHistory& history);

// Of the sweep so far. `stopped_by` is what ended it before a step missed ("KV cache"); empty: its
// own steps did.
Capacity CapacityOf(const SweepHistory& history, std::string_view stopped_by = {});

}  // namespace plimsoll
