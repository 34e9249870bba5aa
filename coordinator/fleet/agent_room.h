// Whether an agent can hold its share of a plan, by what it said of its machine. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/plan/messages.h"

namespace plimsoll {

// Empty if `hello`'s machine can hold `lanes` lanes at the least they need (one connection and
// 64 KiB each); else what it lacks and what to do, in words. What the agent could not say of its
// machine counts as enough.
std::string WhyItHasNoRoom(const Hello& hello, std::uint32_t lanes);

}  // namespace plimsoll
