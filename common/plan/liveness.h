// How long who waits for whom before it gives the other up (design section 5). The same on both
// sides of a run: the plan says by how much they are shortened, and nothing but a rehearsal does.
#pragma once

#include <cstdint>

#include "common/base/limits.h"
#include "common/base/time.h"

namespace plimsoll {

struct LivenessTimes {
  Duration heartbeat = limits::kHeartbeat;  // Between two pings, and two looks at the silence.
  Duration lost = limits::kAgentLost;       // Silent for longer: given up, by either side.
  Duration dead_man = limits::kDeadMan;     // Silent for longer: an agent starts no more calls.
  friend bool operator==(const LivenessTimes&, const LivenessTimes&) = default;
};

// Below a tenth a ping would come late on any busy machine.
inline constexpr std::uint32_t kLivenessPercentMin = 10;
inline constexpr std::uint32_t kLivenessPercentMax = 100;

// All of them at `percent` of their usual length.
constexpr LivenessTimes LivenessAt(std::uint32_t percent) {
  const auto scaled = [percent](Duration usual) { return usual / 100 * percent; };
  return {.heartbeat = scaled(limits::kHeartbeat),
          .lost = scaled(limits::kAgentLost),
          .dead_man = scaled(limits::kDeadMan)};
}

static_assert(LivenessAt(100) == LivenessTimes{});

}  // namespace plimsoll
