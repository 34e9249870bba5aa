#include "coordinator/planning/planner.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "common/plan/corpus_index.h"
#include "common/plan/lanes.h"

namespace plimsoll {
namespace {

std::vector<LaneSpec> LanesOver(const RunPlan& plan, std::uint32_t lanes, std::uint32_t agents) {
  std::vector<std::uint32_t> slots(agents);
  std::iota(slots.begin(), slots.end(), 0u);
  return AssignLanes(plan.tiers, lanes, slots);
}

}  // namespace

StatusOr<RunPlan> MakeRunPlan(const Scenario& scenario, const Corpus& corpus,
                              const RunIdentity& identity) {
  for (const TierPlan& tier : scenario.mix) {
    const bool present =
        std::any_of(corpus.sessions.begin(), corpus.sessions.end(),
                    [&](const Session& session) { return session.tier == tier.tier; });
    if (!present) {
      return absl::InvalidArgumentError(fmt::format(
          "the mix wants {} sessions, and the corpus has none: `plimsoll corpus show` lists tiers",
          tier.name));
    }
  }
  RunPlan plan;
  plan.run_id = identity.run_id;
  plan.seed = scenario.seed;
  plan.nonce = identity.nonce;
  plan.corpus_digest = identity.corpus_digest;
  plan.tiers = scenario.mix;
  plan.think_time = scenario.replay.think_time;
  plan.think_time_cap = scenario.replay.think_time_cap;
  plan.output_divisor = scenario.replay.output_divisor;
  plan.isolate_prefixes = scenario.replay.isolate_prefixes;
  plan.failure = scenario.replay.failure;
  plan.target = scenario.target;
  return plan;
}

RunSettings MakeRunSettings(const Scenario& scenario) {
  RunSettings settings;
  settings.sessions = scenario.sweep.sessions;
  settings.target = scenario.sweep.target;
  settings.step = MakeStepPlan(scenario.sweep, 0, scenario.sweep.sessions.front());
  settings.agents = scenario.fleet.size();
  settings.local_agents = scenario.fleet.local > 0;
  settings.gather_limit = scenario.fleet.wait;
  return settings;
}

FirstPrompt LongestFirstPrompt(const RunPlan& plan, const Corpus& corpus, std::uint32_t sessions) {
  const SessionRotation rotation(corpus, plan.tiers, plan.seed);
  FirstPrompt longest;
  std::uint32_t tokens = 0;
  for (const LaneSpec& lane : LanesOver(plan, sessions, 1)) {
    const auto session = rotation.SessionFor(lane.tier, lane.rank, 0);
    if (!session.has_value()) continue;
    const Session& s = corpus.sessions[*session];
    const SessionGraph graph(s, {plan.think_time, plan.think_time_cap});
    const double share = StartShare(plan.seed, lane.lane, 0);
    const Duration point = FromSeconds(ToSeconds(graph.length()) * share);
    // The call in progress at the start point is the longest that the lane begins with.
    for (std::uint32_t c = 0; c < s.calls.size(); ++c) {
      if (graph.release(c) <= point && s.calls[c].tokens_in > tokens) {
        tokens = s.calls[c].tokens_in;
        longest = {*session, c};
      }
    }
  }
  return longest;
}

}  // namespace plimsoll
