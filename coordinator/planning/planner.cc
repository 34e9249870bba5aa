#include "coordinator/planning/planner.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "common/plan/corpus_index.h"
#include "common/plan/lanes.h"

namespace plimsoll {
namespace {

std::vector<LaneSpec> LanesOver(const RunPlan& plan, std::uint32_t lanes, std::uint32_t agents) {
  std::vector<std::uint32_t> slots(agents);
  std::iota(slots.begin(), slots.end(), 0u);
  return AssignLanes(plan.tiers, lanes, slots);
}

std::string Minutes(Duration d) {
  const double s = ToSeconds(d);
  return s < 120 ? fmt::format("{:.0f} s", s) : fmt::format("{:.1f} min", s / 60);
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
  plan.output_mode = scenario.replay.output_mode;
  plan.output_tokens = scenario.replay.output_tokens;
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

std::vector<std::string> DryPlan(const Scenario& scenario, const RunPlan& plan,
                                 const Corpus& corpus) {
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("scenario  {}: {} at {}", scenario.name, plan.target.model, plan.target.url));
  std::string tiers;
  for (const TierPlan& tier : plan.tiers) {
    const auto n = std::count_if(corpus.sessions.begin(), corpus.sessions.end(),
                                 [&](const Session& s) { return s.tier == tier.tier; });
    std::uint64_t calls = 0;
    for (const Session& s : corpus.sessions) calls += s.tier == tier.tier ? s.calls.size() : 0;
    tiers +=
        fmt::format("{}{} ({} sessions, {} calls)", tiers.empty() ? "" : ", ", tier.name, n, calls);
  }
  lines.push_back("corpus    " + tiers);
  const std::uint32_t agents = scenario.fleet.size();
  const Sweep& sweep = scenario.sweep;
  for (const std::uint32_t sessions : sweep.sessions) {
    const std::vector<LaneSpec> lanes = LanesOver(plan, sessions, agents);
    std::vector<std::uint32_t> per_tier(plan.tiers.size(), 0);
    std::vector<std::uint32_t> per_agent(agents, 0);
    for (const LaneSpec& lane : lanes) {
      ++per_tier[lane.tier];
      ++per_agent[lane.agent_slot];
    }
    std::string mix;
    for (std::size_t t = 0; t < plan.tiers.size(); ++t) {
      mix += fmt::format("{}{} {}", t == 0 ? "" : ", ", per_tier[t], plan.tiers[t].name);
    }
    lines.push_back(fmt::format("step      {:>4} sessions: {}; lanes per agent {}{}", sessions, mix,
                                fmt::join(per_agent, "/"),
                                sweep.target == sessions ? "; the target" : ""));
  }
  const Duration step = limits::kStartAhead + sweep.warm_up + sweep.measure;
  const auto steps = static_cast<std::int64_t>(sweep.sessions.size());
  lines.push_back(fmt::format(
      "time      {} a step ({} warm-up, {} measured in blocks of {}), {} for {} steps, plus "
      "priming (at most {}) and draining (at most {}) a step",
      Minutes(step), Minutes(sweep.warm_up), Minutes(sweep.measure), Minutes(sweep.block),
      Minutes(step * steps), steps, Minutes(sweep.prime_limit), Minutes(sweep.drain_limit)));
  return lines;
}

}  // namespace plimsoll
