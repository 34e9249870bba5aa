// What a running run looks like from outside, as values: taken from the driver now and then, shown
// by the terminal's progress, the results API and the /metrics page, so that the three agree. Every
// number is "so far" and none of them is a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/record/outcome.h"
#include "coordinator/fleet/fleet.h"
#include "coordinator/ingest/step_ingest.h"
#include "coordinator/ingest/step_so_far.h"
#include "coordinator/judge/bar.h"
#include "coordinator/run/run_machine.h"

namespace plimsoll {

// One agent as the fleet sees it.
struct LiveAgent {
  std::uint32_t slot = 0;
  std::string name;
  bool alive = false;
  std::uint32_t cores = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t lanes = 0;            // As its last pong says.
  std::uint32_t calls_in_flight = 0;  // As its last pong says.
  Duration silent_for{};              // Since it was last heard.
};

// Of the measured time of the present step, from the records stored so far.
struct LiveNumbers {
  std::uint64_t attempts = 0;        // Ended ones, released in the measured time.
  OutcomeCounts outcomes{};          // Of those.
  std::uint64_t ttft_n = 0;          // Calls: with a first token, or failed (infinite).
  std::optional<double> ttft_p90_s;  // Absent: none yet, or infinite.
  std::uint64_t rate_n = 0;          // Calls: with an interactivity, or failed (0).
  std::optional<double> rate_reached_by_90_tok_s;
  bool ttft_p90_infinite = false;  // The TTFT percentile fell among failed calls.
  std::vector<LimitSoFar> parts;   // By the bar's limits.
};

// Part of a step's time; the order is that of time.
enum class StepPart : std::uint8_t { kPriming, kWarmUp, kMeasured, kCoolDown };

struct LiveStatus {
  RunPhase phase = RunPhase::kPreflight;
  Duration running_for{};
  // Of the step that is prepared or running; absent outside of one.
  std::optional<std::uint32_t> step;  // Its index in the run, repeats counted apart.
  StepPart part = StepPart::kPriming;
  std::uint32_t sessions = 0;          // Planned lanes.
  StepKind kind = StepKind::kPlanned;  // How the present step came about.
  std::string ladder;                  // Its ladder; empty outside of a step.
  std::uint32_t steps_planned = 0;     // Of all ladders.
  std::uint32_t steps_judged = 0;      // Repeats included.
  std::uint32_t place = 0;  // Of the present step among the planned ones, from 1; 0: none.
  std::uint32_t lanes = 0;  // Alive over all agents, as their last pongs say.
  std::uint32_t calls_in_flight = 0;  // Likewise.
  LiveNumbers numbers;
  std::optional<Duration> step_left;  // To the end of its measured time; absent: not begun.
  std::optional<Duration> part_left;  // Of the present part; an upper bound of the cool-down's.
  std::optional<Duration> measured;   // Of the measured time, how much is over; absent: not begun.
  Duration run_left{};  // If every planned step is run, to the last call; an upper bound without
                        // repeats.
  std::uint64_t records_acked = 0;
  std::uint32_t agents_planned = 0;
  std::uint32_t agents_present = 0;  // Also before the fleet is complete.
  std::vector<LiveAgent> agents;     // By slot; empty until the fleet is complete.
};

// Name of a part for people: "priming", "warm-up", "measuring", "cool-down".
const char* Name(StepPart part);

// The instants that neither machine nor fleet keep.
struct LiveTimes {
  MonoTime now{};
  MonoTime begun{};                     // The run.
  std::optional<MonoTime> prepared;     // The present step's PrepareStep.
  std::optional<MonoTime> step_start;   // Its common start, once agreed; may lie ahead.
  std::optional<MonoTime> stopped_by;   // When the last call is hung up, once agents were stopped.
  std::optional<MonoTime> settle_from;  // Since when the deployment is awaited.
};

// The status from what driver, fleet and ingest hold. `ingest` is the present step's, null outside
// of one. Reads each cell once; meant to be asked about once a second.
LiveStatus MakeLiveStatus(const RunSettings& settings, const MachineState& state,
                          const Fleet& fleet, const StepIngest* ingest, const Bar& bar,
                          const LiveTimes& times);

}  // namespace plimsoll
