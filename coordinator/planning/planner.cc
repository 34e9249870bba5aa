#include "coordinator/planning/planner.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "common/plan/corpus_index.h"
#include "common/plan/lanes.h"
#include "coordinator/planning/eval_plan.h"
#include "coordinator/planning/hook_times.h"

namespace plimsoll {
namespace {

std::vector<LaneSpec> LanesOver(const RunPlan& plan, std::uint32_t lanes, std::uint32_t agents) {
  std::vector<std::uint32_t> slots(agents);
  std::iota(slots.begin(), slots.end(), 0u);
  return AssignLanes(plan.tiers, lanes, slots);
}

// The mix's tiers; after them, without a share in it, those of a ladder alone.
std::vector<TierPlan> TiersOf(const Scenario& scenario) {
  std::vector<TierPlan> tiers = scenario.mix;
  for (const TierPlan& tier : scenario.tier_ladders) {
    if (TierIndex(tiers, tier.tier) == tiers.size()) tiers.push_back(tier);
  }
  return tiers;
}

// Every tier of the mix and of the ladders has a session to play.
Status CheckTiers(const RunPlan& plan, const Corpus& corpus) {
  const std::vector<ContextCounts> counts = CountLeftOut(plan, corpus);
  for (std::size_t t = 0; t < counts.size(); ++t) {
    const std::string& name = plan.tiers[t].name;
    if (counts[t].sessions == 0) {
      return absl::InvalidArgumentError(fmt::format(
          "the {} wants {} sessions, and the corpus has none: `plimsoll corpus show` lists tiers",
          plan.tiers[t].share > 0 ? "mix" : "ladder", name));
    }
    if (counts[t].sessions == counts[t].sessions_dropped) {
      return absl::InvalidArgumentError(fmt::format(
          "the context limit of {} tokens with {} leaves none of the {} {} sessions; raise "
          "replay.context_limit, choose another over_limit, or take the tier out of the mix",
          plan.context_limit.tokens, Name(plan.context_limit.policy), counts[t].sessions, name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<RunPlan> MakeRunPlan(const Scenario& scenario, const Corpus& corpus,
                              const RunIdentity& identity) {
  RunPlan plan;
  plan.run_id = identity.run_id;
  plan.seed = scenario.seed;
  plan.nonce = identity.nonce;
  plan.corpus_digest = identity.corpus_digest;
  plan.tiers = TiersOf(scenario);
  plan.think_time = scenario.replay.think_time;
  plan.think_time_cap = scenario.replay.think_time_cap;
  plan.output_mode = scenario.replay.output_mode;
  plan.output_tokens = scenario.replay.output_tokens;
  plan.output_divisor = scenario.replay.output_divisor;
  plan.isolate_prefixes = scenario.replay.isolate_prefixes;
  plan.failure = scenario.replay.failure;
  plan.context_limit = scenario.replay.context_limit;
  plan.history = scenario.replay.history;
  plan.target = scenario.target;
  if (scenario.evals) plan.evals = MakeEvalPlan(*scenario.evals, identity.eval_set);
  RETURN_IF_ERROR(CheckTiers(plan, corpus));
  return plan;
}

RunSettings MakeRunSettings(const Scenario& scenario, bool promote) {
  RunSettings settings;
  settings.sessions = scenario.sweep.sessions;
  settings.target = scenario.sweep.target;
  settings.step = MakeStepPlan(scenario.sweep, 0, scenario.sweep.sessions.front());
  settings.agents = scenario.fleet.size();
  if (scenario.evals) settings.mini_run = MakeMiniRun(*scenario.evals, settings.agents);
  settings.local_agents = scenario.fleet.local > 0;
  settings.gather_limit = scenario.fleet.wait;
  const std::vector<TierPlan> tiers = TiersOf(scenario);
  for (const TierPlan& tier : scenario.tier_ladders) {
    settings.tier_ladders.push_back({.name = tier.name,
                                     .tier = static_cast<std::uint8_t>(TierIndex(tiers, tier.tier)),
                                     .sessions = scenario.sweep.sessions});
  }
  settings.extend = scenario.sweep.extend;
  settings.fail_early = scenario.sweep.fail_early;
  settings.budget = scenario.sweep.budget;
  settings.refine = scenario.sweep.refine && (scenario.sweep.budget || scenario.window.length);
  settings.drain_between_steps = scenario.sweep.drain_between_steps;
  settings.hooks = TimesOf(scenario.hooks, promote);
  settings.window = scenario.window.length;
  if (scenario.signals && scenario.signals->AsksCandidate()) {
    settings.back_limit = scenario.signals->drain_within;
  }
  return settings;
}

FirstPrompt LongestFirstPrompt(const RunPlan& plan, const Corpus& corpus, std::uint32_t sessions) {
  const ContextFilter filter(plan, corpus);
  const SessionRotation rotation(corpus, plan.tiers, plan.seed, &filter);
  FirstPrompt longest;
  std::uint32_t tokens = 0;
  for (const LaneSpec& lane : LanesOver(plan, sessions, 1)) {
    const auto session = rotation.SessionFor(lane.tier, lane.rank, 0);
    if (!session.has_value()) continue;
    const Session& s = corpus.sessions[*session];
    const SessionGraph graph(s, {plan.think_time, plan.think_time_cap}, filter.left_out(*session));
    const double share = StartShare(plan.seed, lane.lane, 0);
    const Duration point = FromSeconds(ToSeconds(graph.length()) * share);
    // The call in progress at the start point is the longest that the lane begins with.
    for (std::uint32_t c = 0; c < s.calls.size(); ++c) {
      if (graph.left_out(c)) continue;
      if (graph.release(c) <= point && s.calls[c].tokens_in > tokens) {
        tokens = s.calls[c].tokens_in;
        longest = {*session, c};
      }
    }
  }
  return longest;
}

}  // namespace plimsoll
