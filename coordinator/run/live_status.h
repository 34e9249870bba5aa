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
  std::uint64_t rate_n = 0;
  std::optional<double> rate_reached_by_90_tok_s;
};

// Part of a step's time; the order is that of time.
enum class StepPart : std::uint8_t { kPriming, kWarmUp, kMeasured, kCoolDown };

struct LiveStatus {
  RunPhase phase = RunPhase::kPreflight;
  Duration running_for{};
  // Of the step that is prepared or running; absent outside of one.
  std::optional<std::uint32_t> step;  // Its index in the run, repeats counted apart.
  StepPart part = StepPart::kPriming;
  std::uint32_t sessions = 0;       // Planned lanes.
  std::uint32_t steps_planned = 0;  // Of the sweep.
  std::uint32_t steps_judged = 0;
  std::uint32_t lanes = 0;            // Alive over all agents, as their last pongs say.
  std::uint32_t calls_in_flight = 0;  // Likewise.
  LiveNumbers numbers;
  std::optional<Duration> step_left;  // To the end of its measured time; absent: not begun.
  Duration run_left{};  // If every planned step is run; an upper bound without repeats.
  std::uint64_t records_acked = 0;
  std::vector<LiveAgent> agents;  // By slot.
};

}  // namespace plimsoll
