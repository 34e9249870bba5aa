// Costs as people read them. Pure.
#pragma once

#include <string>

#include "coordinator/judge/capacity_value.h"
#include "coordinator/judge/cost.h"

namespace plimsoll {

// "3.84", "0.0123", "–": three digits, or that there is none.
std::string Shown(const Figure& figure);

// "3.84 USD per session-hour (4 nodes at 14.4 USD an hour, 15 sessions with 14.6 requests in
// flight)" and why not; one sentence for each thing that is known. `capacity` is that of which the
// cost is.
std::string CostSentence(const Cost& cost, const Capacity& capacity);

}  // namespace plimsoll
