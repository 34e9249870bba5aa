// The bar's limits and the capacity at it → plimsoll.v1. Part of api_messages.
#pragma once

#include "coordinator/judge/bracket.h"
#include "coordinator/judge/capacity_value.h"

namespace plimsoll {
namespace v1 {
class Capacity;
class Limit;
class TierLadder;
}  // namespace v1

// Pure; a number that is none is left out, or 0 where the message has to have one.
void FillLimit(const Limit& limit, v1::Limit* out);
void FillCapacity(const Capacity& capacity, v1::Capacity* out);
// All but the tier.
void FillBracket(const Bracket& bracket, v1::TierLadder* out);

}  // namespace plimsoll
