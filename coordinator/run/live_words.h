// What a running run looks like, in words: for the terminal's progress and for whoever looks at the
// run from outside, so that the two say the same. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/run/live_status.h"

namespace plimsoll {

// What a limit of the bar looks like so far.
struct PartSoFar {
  std::string name;   // "TTFT P90".
  std::string value;  // "0.11 s"; "–" without one.
  std::string limit;  // "limit 1 s".
  std::uint64_t n = 0;
  bool enough = false;  // Calls for a percentile with an interval.
  bool within = false;
};

// One for each limit of the bar; nothing is known of those that the numbers do not have yet.
std::vector<PartSoFar> PartsOf(const LiveNumbers& numbers, const Bar& bar);

// "1 refused, 2 cut"; empty without failures.
std::string FailuresByOutcome(const OutcomeCounts& outcomes);

// "; TTFT P90 0.11 s (limit 1 s, n 118)" for each limit of the bar, and ": 1 refused" behind them.
std::string PartsSoFar(const LiveNumbers& numbers, const Bar& bar);

// "step 2 of 4".
std::string PlaceOf(const LiveStatus& status);

// "measuring 2m13s of 5m" · "warm-up, 12s left" · "cool-down, at most 20s".
std::string PartText(const LiveStatus& status);

// What the coordinator is at, outside of a step.
std::string PhaseText(const LiveStatus& status);

// All of it in one sentence. No number in it is a verdict.
std::string NowSentence(const LiveStatus& status, const Bar& bar);

}  // namespace plimsoll
