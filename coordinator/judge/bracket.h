// What a ladder on one tier alone says: from the last step that passed to the first that failed,
// and never a number between them. Pure.
#pragma once

#include <string>

#include "coordinator/judge/capacity.h"

namespace plimsoll {

// "20 sessions passed last, 30 failed first: TTFT" · "20 sessions passed last, none failed" · "the
// first step, 5 sessions, failed: TTFT" · "no step was decided". `history` is the ladder's.
std::string BracketOf(const SweepHistory& history);

}  // namespace plimsoll
