// What an agent knows about a step that single records cannot say: how its lanes spent the measured
// time, and which calls of the plays alive in it were never released. Sent once, when every call
// released in the measured time has ended.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "common/base/rng.h"
#include "common/record/eval_outcome.h"
#include "common/record/host_load.h"
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

// What a play's number comes to in the checksum of PlaySums. Odd, so that it and its small
// multiples are not 0.
constexpr std::uint32_t MixedPlay(std::uint32_t lane, std::uint32_t play) {
  return static_cast<std::uint32_t>(MixKey(lane, play) >> 32) | 1;
}

// Over a lane's plays that were alive in the measured time: sums, however many they were.
//   calls_total = before + skipped + released + remaining
struct PlaySums {
  std::uint64_t plays = 0;
  std::uint64_t calls_total = 0;      // Of the sessions' trees.
  std::uint64_t calls_skipped = 0;    // Before a late start point, primers among them.
  std::uint64_t calls_before = 0;     // First released before the measured time.
  std::uint64_t calls_released = 0;   // First released within it.
  std::uint64_t calls_remaining = 0;  // Not released by the end of the measured time, or never.
  std::uint32_t mixed = 0;            // Sum of the plays' MixedPlay, each times its calls_released.
  friend bool operator==(const PlaySums&, const PlaySums&) = default;
};

// Plays of a lane that failed, and after it were silent within the measured time.
struct FailedPlays {
  // So many of a lane stand alone; those after them are booked together, by block.
  static constexpr std::size_t kAloneMax = 256;
  std::uint32_t block = 0;  // Of the measured time: the failing call's, else the silence's first.
  std::uint32_t plays = 1;
  std::uint64_t calls_remaining = 0;
  // From the first failure of the call that the play failed by, or the play's last release if that
  // was later, to the start of the lane's next play; of that what lies in the measured time.
  std::int64_t silent_ns = 0;
  friend bool operator==(const FailedPlays&, const FailedPlays&) = default;
};

// How true a lane's replay was to the recorded session, over the measured time. A pause is the
// recorded client's delay before a call that waited for another one of its play.
struct FidelityCounts {
  static constexpr std::int64_t kPausesMaxNs = std::int64_t{1} << 61;
  std::uint64_t pauses = 0;            // Of calls first released in the measured time.
  std::int64_t pause_recorded_ns = 0;  // Their sum as recorded,
  std::int64_t pause_removed_ns = 0;   // and what of it the plan left out.
  // Live history: answers by whether they were kept, and assistant messages sent by their source.
  std::uint64_t answers_kept = 0;
  std::uint64_t answers_over_limit = 0;       // Of limits::kLiveHistoryBytesMax.
  std::uint64_t answers_without_content = 0;  // Reasoning or tool calls only.
  std::uint64_t turns_live = 0;
  std::uint64_t turns_recorded = 0;  // Fallen back to text of the recorded length.
  void Add(const FidelityCounts& other) {
    pauses += other.pauses;
    // A peer may say anything below 2^61 for each lane: sums stop there.
    pause_recorded_ns = std::min(pause_recorded_ns + other.pause_recorded_ns, kPausesMaxNs);
    pause_removed_ns = std::min(pause_removed_ns + other.pause_removed_ns, kPausesMaxNs);
    answers_kept += other.answers_kept;
    answers_over_limit += other.answers_over_limit;
    answers_without_content += other.answers_without_content;
    turns_live += other.turns_live;
    turns_recorded += other.turns_recorded;
  }
  friend bool operator==(const FidelityCounts&, const FidelityCounts&) = default;
};

struct LaneTally {
  std::uint32_t lane = 0;
  std::uint8_t tier = 0;
  std::array<std::int64_t, kLaneStates> state_ns{};  // Sums to the measured time.
  PlaySums plays;
  // By instant; without those that ended by a fault of our own. At most kAloneMax and one a block.
  std::vector<FailedPlays> failed_plays;
  FidelityCounts fidelity;
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
  // How far the agent's wall clock moved against its monotonic clock within the measured time, at
  // its worst; of either sign.
  std::int64_t wall_moved_ns = 0;
  double cpu_share_max = 0;        // Of one core, the busiest data loop, worst second.
  HostLoad host;                   // Of the measured time.
  std::uint64_t records_lost = 0;  // Dropped because the uplink's bound was reached.
  std::vector<LaneTally> lanes;
  // Evals asked within the measured time, and how they were judged; no part of anything above.
  std::uint64_t evals_asked = 0;
  EvalCounts evals;
  friend bool operator==(const StepTally&, const StepTally&) = default;
};

}  // namespace plimsoll
