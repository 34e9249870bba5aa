// Failing a step early: at planned looks, after each block from the second to the last but one and
// not within the first minute, the running step is judged on the records so far. Pure.
//
// Every look can err; together they may spend half of the 2.5% by which the step's own interval may
// err on that side. How much of it a look may spend grows with time, by the power family of Kim and
// DeMets (1987) with exponent 2: up to `done` blocks, of which the last look sees blocks − 1,
// kEarlyError · (done / (blocks − 1))². The parts looked at share it equally. A part must also fail
// by the rule of a step's end, at 95% and with its own degrees of freedom; to the look's smaller
// tail at least six degrees are granted, since those of four half-blocks could reject nothing.
//
// Calls in flight are missing, and most of them are slow ones. For errors they count as attempts
// that did not fail. The load sent is not known yet: latencies are looked at only where next to
// nothing failed, so that lanes cannot have idled. How the engine will be in the blocks to come
// nobody knows; that this costs next to nothing is measured (docs/statistics.md, "Failing early").
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/judge/evidence.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

inline constexpr double kEarlyError = 0.0125;

// The error that the look after `done` of a step's `blocks` may spend; 0 where none is planned.
double ErrorSpentAt(std::uint32_t done, std::uint32_t blocks);

struct EarlyFinding {
  std::uint32_t after_blocks = 0;
  std::uint32_t of_blocks = 0;
  // The parts that fail, as judged at the look, each reason with "after 3 of 5 blocks, ".
  std::vector<PartVerdict> failed;
};

// The look after `done` blocks: `so_far` is what has arrived by then, `in_flight` counts the calls
// that are open. Nothing if no look is planned there or no part clearly fails.
std::optional<EarlyFinding> LookEarly(StepEvidence so_far, const Bar& bar, std::uint32_t done,
                                      std::uint32_t in_flight);

// The verdict of a step that ended at that look, from that of its evidence: parts that failed at
// the look keep that; what else did not fail has no data, since the slow calls that were open were
// hung up. A void step stays void, latencies of a lighter load stay without data, and a
// step in which nothing fails any more has no data: it was cut short.
StepVerdict FailedEarly(StepVerdict judged, const EarlyFinding& finding);

}  // namespace plimsoll
