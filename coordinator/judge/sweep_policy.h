// What a sweep does next, and what it says of the target, from the steps so far. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/judge/capacity.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

struct SweepDecision {
  enum class Kind : std::uint8_t {
    kRun,     // Run `sessions` as a new step.
    kRepeat,  // Run `sessions`, the last step, once more: it had no data.
    kStop,
  };
  Kind kind = Kind::kStop;
  std::uint32_t sessions = 0;  // 0 for kStop.
  std::string reason;          // In words; never empty.
};

// A pass climbs to the next planned number above; a miss stops; too close climbs if it leans to
// pass, else stops; no data is repeated once, then stops. `planned` need not be sorted.
SweepDecision NextStep(const SweepHistory& history, const std::vector<std::uint32_t>& planned);

struct TargetVerdict {
  Verdict verdict = Verdict::kNoData;
  int exit_code = 3;   // Design section 10: 0 held, 1 missed, 2 too close, 3 no data or invalid.
  std::string reason;  // One line for people; never empty.
};

// Of the target, or without one of the first step. A measured step's own verdict is the target's.
// A target that was not measured is missed if a lower step misses, held if a higher one holds, too
// close if the sweep ended too close below it or a pass and a miss enclose it; else no data.
TargetVerdict JudgeTarget(const SweepHistory& history, std::optional<std::uint32_t> target);

}  // namespace plimsoll
