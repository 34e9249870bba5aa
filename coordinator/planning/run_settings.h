// What the run machine is set to do, as values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/plan/plan.h"

namespace plimsoll {

// A sweep on one tier alone, after the mix's.
struct TierLadder {
  std::string name;                     // The tier's.
  std::uint8_t tier = 0;                // Index into RunPlan::tiers.
  std::vector<std::uint32_t> sessions;  // Planned steps, rising.
  friend bool operator==(const TierLadder&, const TierLadder&) = default;
};

// The mini run of evals before the first step. At no load: a few in flight over the whole fleet.
struct MiniRunSettings {
  std::uint32_t askers = 0;   // Agents that ask; 0: there are no evals.
  std::uint32_t at_once = 0;  // Each of them.
  Duration limit{};
  friend bool operator==(const MiniRunSettings&, const MiniRunSettings&) = default;
};

// The hooks around a run, each with the longest that it can take, all its tries and what comes
// between them included; absent: there is no such hook.
struct HookTimes {
  std::optional<Duration> rollout;
  std::optional<Duration> promote;  // Only where it was asked for.
  std::optional<Duration> rollback;
  friend bool operator==(const HookTimes&, const HookTimes&) = default;
};

struct RunSettings {
  std::vector<std::uint32_t> sessions;  // Planned steps, rising.
  std::optional<std::uint32_t> target;
  StepPlan step;  // Durations of every step.
  std::uint32_t agents = 1;
  bool local_agents = false;  // A lost one is started again; else one is awaited.
  Duration gather_limit = 60s;
  Duration replace_limit = 60s;
  Duration slack = 30s;  // Beyond its own time, for what agents say at a phase's end.
  std::vector<TierLadder> tier_ladders;  // One after the other, on the same fleet.
  bool extend = false;                   // A step too close gets more time once.
  bool fail_early = false;               // A step that clearly misses ends before its time.
  // For all steps, from the first one's preparation on; absent: no limit.
  std::optional<Duration> budget;
  bool refine = false;  // What is left of the budget goes to the gap around the capacity.
  MiniRunSettings mini_run;
  bool drain_between_steps = false;  // The lanes of a step end before the next one.
  // How long the deployment is awaited where it was before the run; absent: no server is asked.
  std::optional<Duration> back_limit;
  HookTimes hooks;
  // From the run's begin to the end of its rollback; absent: no limit.
  std::optional<Duration> window;
};

// How long agents are awaited, their last words and their return, is a time of liveness too: at
// `percent` of the usual (common/plan/liveness.h).
inline RunSettings AtLiveness(RunSettings settings, std::uint32_t percent) {
  settings.slack = settings.slack / 100 * percent;
  settings.replace_limit = settings.replace_limit / 100 * percent;
  return settings;
}

}  // namespace plimsoll
