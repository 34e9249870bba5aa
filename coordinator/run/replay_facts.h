// What a run's plan makes of its corpus, counted once: the recorded cycles, how far lanes fan
// out, and what its context limit leaves out. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/plan/context_limit.h"
#include "common/plan/plan.h"
#include "coordinator/ingest/step_ingest.h"
#include "coordinator/judge/replay_summary.h"

namespace plimsoll {

class ReplayFacts {
 public:
  ReplayFacts(const RunPlan& plan, const Corpus& corpus);

  // By tier: the median recorded time from one release to the next, pauses as the plan caps them,
  // of the calls that its context limit leaves.
  const std::vector<Duration>& recorded_cycles() const { return recorded_cycles_; }
  // By tier: the most requests that a lane has in flight at once, over the sessions it may play on
  // their replayed timelines; at least 1.
  const std::vector<std::uint32_t>& peaks_in_flight() const { return peaks_in_flight_; }
  const std::vector<std::string>& tier_names() const { return tier_names_; }
  // What each call's prompt should find in a prefix cache that forgets nothing.
  const CacheForecast& cache_forecast() const { return cache_forecast_; }
  // Fills in what is the same for every step; the tiers of `replay` are the plan's.
  void Describe(ReplaySummary* replay) const;

 private:
  ReplaySummary rules_;                  // Without tiers.
  std::vector<ContextCounts> left_out_;  // By tier.
  std::vector<Duration> recorded_cycles_;
  std::vector<std::uint32_t> peaks_in_flight_;
  std::vector<std::string> tier_names_;
  CacheForecast cache_forecast_;
};

}  // namespace plimsoll
