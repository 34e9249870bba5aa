// What a run's plan makes of its corpus, counted once: the recorded cycles, how far lanes fan
// out, and what its context limit leaves out. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/plan/context_limit.h"
#include "common/plan/plan.h"
#include "coordinator/fleet/agent_room.h"
#include "coordinator/ingest/step_ingest.h"
#include "coordinator/judge/replay_summary.h"

namespace plimsoll {

// Requests that a lane of a tier has in flight on its sessions' replayed timelines, while it has
// any; and, with live history, the bytes of the answers that it keeps.
struct LaneLoad {
  double mean = 1;
  double variance = 0;
  std::uint32_t peak = 1;  // Of any session.
  double history_bytes = 0;
  double history_bytes_max = 0;
};

// What lanes need of the machine that plays them.
struct LaneNeeds {
  // Requests: the mean of independent lanes and three standard deviations, at least one a lane.
  // History: of answers as long as the recorded ones.
  LaneShare expected;
  LaneShare most;  // All lanes at their peaks at the same time.
};

class ReplayFacts {
 public:
  ReplayFacts(const RunPlan& plan, const Corpus& corpus);

  // By tier: the median recorded time from one release to the next, pauses as the plan caps them,
  // of the calls that its context limit leaves.
  const std::vector<Duration>& recorded_cycles() const { return recorded_cycles_; }
  const std::vector<LaneLoad>& lane_loads() const { return lane_loads_; }  // By tier.
  LaneNeeds NeedsOf(const std::vector<std::uint32_t>& lanes_per_tier) const;
  const std::vector<std::string>& tier_names() const { return tier_names_; }
  // What each call's prompt should find in a prefix cache that forgets nothing.
  const CacheForecast& cache_forecast() const { return cache_forecast_; }
  // Fills in what is the same for every step; the tiers of `replay` are the plan's.
  void Describe(ReplaySummary* replay) const;

 private:
  ReplaySummary rules_;                  // Without tiers.
  std::vector<ContextCounts> left_out_;  // By tier.
  std::vector<Duration> recorded_cycles_;
  std::vector<LaneLoad> lane_loads_;
  std::vector<std::string> tier_names_;
  CacheForecast cache_forecast_;
};

}  // namespace plimsoll
