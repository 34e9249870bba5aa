// What an agent knows about a step that single records cannot say: how its lanes spent the measured
// time, and which calls of the plays alive in it were never released. Sent once, when every call
// released in the measured time has ended.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/record/outcome.h"

namespace plimsoll {

// How a lane spends an instant of measured time; the states partition it. Sent: never renumber.
enum class LaneState : std::uint8_t {
  kInFlight = 0,      // At least one call in flight.
  kPlannedDelay = 1,  // None in flight, and a planned delay is running.
  kRefused = 2,       // Backing off after a refusal or failure.
  kLate = 3,          // A release is due and we have not started it. Ours.
  kClientError = 4,   // Backing off after a fault of our own. Ours.
  kDeadMan = 5,       // Stopped because the coordinator was not heard. Ours.
  kNoSession = 6,     // Nothing to play. Ours.
};
inline constexpr std::size_t kLaneStates = 7;
constexpr bool IsOurs(LaneState s) {
  return s >= LaneState::kLate;
}

// One play that was alive in the measured time.
//   calls_total = before + skipped + released + remaining
struct PlayTally {
  std::uint32_t play = 0;
  std::uint32_t calls_total = 0;      // Of the session's tree.
  std::uint32_t calls_skipped = 0;    // Before a late start point, primers among them.
  std::uint32_t calls_before = 0;     // First released before the measured time.
  std::uint32_t calls_released = 0;   // First released within it.
  std::uint32_t calls_remaining = 0;  // Not released by the end of the measured time, or never.
  // Failed plays only.
  bool failed = false;
  std::uint32_t failed_block = 0;  // Block of the failing call; a cell of this lane.
  std::int64_t failed_at_ns = 0;   // From the step's start.
  std::int64_t next_play_at_ns =
      0;  // When the lane's next play started or would have; from the step's start.
  friend bool operator==(const PlayTally&, const PlayTally&) = default;
};

struct LaneTally {
  std::uint32_t lane = 0;
  std::uint8_t tier = 0;
  std::array<std::int64_t, kLaneStates> state_ns{};  // Sums to the measured time.
  std::vector<PlayTally> plays;
  friend bool operator==(const LaneTally&, const LaneTally&) = default;
};

struct StepTally {
  std::uint32_t step = 0;
  std::uint64_t attempts_released = 0;  // Within the measured time.
  OutcomeCounts outcomes{};             // Of those attempts.
  // Requests in flight, integrated over the measured time.
  std::int64_t in_flight_request_ns = 0;
  std::int64_t start_error_ns = 0;   // Actual minus agreed start, on the agent's clock.
  std::int64_t lateness_max_ns = 0;  // Worst delay of a release behind its plan.
  std::int64_t lateness_p99_ns = 0;
  // Of the agent's loop within the measured time: its worst stall, and the sum of those of 20 ms
  // and more, during which nothing could be sent or stamped.
  std::int64_t loop_lag_max_ns = 0;
  std::int64_t loop_stalled_ns = 0;
  double cpu_share_max = 0;        // Of one core, the busiest data loop, worst second.
  std::uint64_t records_lost = 0;  // Dropped because the uplink's bound was reached.
  std::vector<LaneTally> lanes;
  friend bool operator==(const StepTally&, const StepTally&) = default;
};

}  // namespace plimsoll
