// Whether an agent can hold its share of a plan, by what it said of its machine. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/plan/messages.h"

namespace plimsoll {

struct LaneShare {
  std::uint32_t lanes = 0;
  std::uint64_t connections = 0;    // At once; at least `lanes`.
  std::uint64_t history_bytes = 0;  // Kept of the server's answers (history: live).
};

// Empty if `hello`'s machine can hold `share` (a descriptor and a port a connection, 64 KiB a
// lane, and its history); else what it lacks and what to do, in words. What the agent could not say
// of its machine counts as enough.
std::string WhyItHasNoRoom(const Hello& hello, const LaneShare& share);

}  // namespace plimsoll
