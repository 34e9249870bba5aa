// The dry plan: what a run will send, how long it takes, what that costs and how sharp its verdicts
// can be, computed before a window is spent. Values only; pure.
//
// How many calls a step makes depends on how fast the deployment answers, which nobody knows yet.
// So they stand between two ends:
//   as recorded    calls take as long as they took when the sessions were recorded, divided by what
//                  a rehearsal divides their tokens by (corpus.scale, replay.output_divisor)
//   at the bar     every call is as slow as the bar just allows: its TTFT and its interactivity
// What the context limit's policy leaves out is neither sent nor waited for, at either end.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/config/quantities.h"
#include "common/plan/plan.h"
#include "common/stats/clopper_pearson.h"
#include "coordinator/judge/bar.h"
#include "coordinator/planning/decision.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

inline constexpr std::uint64_t kNoNumber = std::numeric_limits<std::uint64_t>::max();

// How well one limit of the bar can be judged at so many calls.
struct Precision {
  Limit limit;
  std::uint64_t calls = 0;  // Expected, as recorded, of the limit's tier.
  // Percentiles: the fewest for any verdict. Errors: the fewest that pass if none fails, times the
  // design effect assumed; kNoNumber where none does. Tool calls: 1.
  std::uint64_t calls_needed = 0;
  // The shares (of calls within the limit; errors: of failed ones) that would read too close, by
  // the judge's test. Of a limit with an interval of its own (baseline runs that differ) the high
  // end is of the share within its stricter edge, the low end of that within its looser one; errors
  // have both in `close`. Absent: a single lane or no call.
  std::optional<Interval> close;
  // Of latencies: the measured time is too short, or its blocks too long, to tell how calls of one
  // time depend on each other (Slices): every share reads too close.
  bool too_few_slices = false;
  // The chance that a recipe 20% better than the limit reads pass, and one 20% worse fail
  // (coordinator/planning/decision.h). Absent where `close` is.
  std::optional<double> better_passes;
  std::optional<double> worse_fails;
  Duration
      measure_for_half{};  // Measured time at which that is half as wide: four times the calls.
  // Measured time at which the calls needed are there, as recorded and at the bar; 0: no call is
  // expected.
  Duration measure_needed{};
  Duration measure_needed_at_bar{};
};

struct DryStep {
  std::string ladder;  // "mix", or the tier that it is on alone.
  std::uint32_t sessions = 0;
  std::vector<std::uint32_t> lanes_per_tier;
  std::vector<std::uint32_t> lanes_per_agent;
  // In the measured time: as recorded, and at the bar (the fewer; equal without latency limits).
  double requests = 0;
  double requests_at_bar = 0;
  // Requests in flight on average, likewise: as recorded (of a corpus that is not scaled down what
  // planning/peak.h says of so many sessions), and at the bar. 0: no call takes any time.
  double in_flight = 0;
  double in_flight_at_bar = 0;
  // Tokens of the requests as recorded.
  double tokens_in = 0;
  double tokens_cached = 0;  // With a cache that forgets nothing that was sent of a session.
  double tokens_out = 0;
  Duration at_least{};           // Start, warm-up and measured time.
  Duration at_most{};            // With the whole of priming and of the drain limit.
  std::vector<Precision> parts;  // By the bar's order.
};

struct DryPlan {
  std::vector<DryStep> steps;
  Duration at_least{};  // Of all steps, each run once; not more than the budget.
  Duration at_most{};
  std::optional<Money>
      cost_at_least;  // Absent: the scenario has no cost, or it is beyond counting.
  std::optional<Money> cost_at_most;
};

// The least sweep.measure of whole blocks that a scenario may have and that holds `needed`. Absent:
// none does.
std::optional<Duration> MeasureOfBlocks(Duration needed, Duration block);

// `plan` is the scenario's, made from `corpus`.
DryPlan MakeDryPlan(const Scenario& scenario, const RunPlan& plan, const Corpus& corpus);

}  // namespace plimsoll
