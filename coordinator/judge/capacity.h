// The capacity of a sweep as the point and its bracket, in words that never go beyond what was
// measured (design section 3).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "coordinator/judge/step_origin.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// A step of a sweep that is over, as the sweep's rules see it.
struct StepResult {
  std::uint32_t sessions = 0;
  StepVerdict verdict;
  double requests_in_flight = 0;  // Mean over the measured time.
  StepOrigin origin;
};
using SweepHistory = std::vector<StepResult>;  // In the order in which they ran, repeats included.

// Of a run's steps those of one ladder.
SweepHistory OfLadder(const SweepHistory& history, std::string_view ladder);

// One result for each number of sessions, ascending: the last one that has data, else the last.
std::vector<StepResult> DecidedSteps(const SweepHistory& history);

// "10 sessions hold (7.9 requests in flight); 15 do not: TTFT" · ">= 20 sessions (…), ceiling not
// found" · "< 5 sessions: the first step already misses: errors" · "no capacity: no step was
// decided". Steps too close or without data between or beyond are named after it.
Capacity CapacityOf(const SweepHistory& history);

}  // namespace plimsoll
