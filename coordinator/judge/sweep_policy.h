// What a sweep does next, and what it says of the target, from the steps so far. Pure.
//
// - a step that holds: climb to the next planned number
// - one that misses: stop; of the first step: end the run
// - one that is too close: more time for it once, then as it leans, pass as a hold and fail as a
//   miss
// - one without data: run it once more, then end the run
// - where it stopped at a miss and time is left: halve the gap between the last step that held and
//   the first that did not, in whole sessions
//
// Whatever does not fit into the budget is left out, and that is said.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/judge/capacity.h"
#include "coordinator/judge/sweep_event.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

struct SweepDecision {
  enum class Kind : std::uint8_t {
    kRun,     // Run `sessions` as a new step.
    kExtend,  // More time for `sessions`, the last step: it was too close.
    kRepeat,  // Run `sessions`, the last step, once more: it had no data.
    kRefine,  // Run `sessions`, between a step that held and one that did not.
    kStop,
  };
  Kind kind = Kind::kStop;
  std::uint32_t sessions = 0;  // 0 for kStop.
  std::string reason;          // In words; never empty.
  bool ends_run = false;       // Of kStop: no other ladder is worth its time either.
};

// What a sweep may do. The times are the longest that each kind of step can take.
struct SweepRules {
  std::vector<std::uint32_t> planned;  // Need not be sorted.
  // Steps up to it keep their time before any other is extended.
  std::optional<std::uint32_t> target;
  bool first_is_todays_load = true;  // A miss of the first step ends the run.
  bool extend = false;
  bool refine = false;  // Only within a budget.
  Duration step_time{};
  Duration extension_time{};
  Duration refinement_time{};
  std::optional<Duration> left;  // Of the budget; absent: there is none.
  bool left_of_window = false;   // It is the run's window that is shorter.
  Duration reserved{};           // Of it, for what comes after this sweep: its planned steps only.
};

// Every step that it asks for fits into the budget; it never asks for more sessions than a step
// that missed; it stops after at most two runs and an extension of any number of sessions.
// `history` is one ladder's.
SweepDecision NextStep(const SweepHistory& history, const SweepRules& rules,
                       SweepEvent event = SweepEvent::kNone);

// What kept the sweep from going on before a step missed, as CapacityOf says it: what the last step
// met (StepResult::ended_by), or "refusals" where it sent too little of its load, which nothing but
// the server's refusals can cause in a step that is not void. Empty: its own steps ended it, or
// nothing has.
std::string StoppedBy(const SweepHistory& history);

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
