#include "coordinator/planning/dry_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/limits.h"
#include "common/plan/context_limit.h"
#include "common/plan/lanes.h"
#include "common/plan/output_length.h"
#include "common/plan/session_graph.h"
#include "common/stats/student_t.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/scenario/scenario_check.h"

namespace plimsoll {
namespace {

// What the calls that a tier sends are like: sums over all of them.
struct TierLoad {
  double calls = 0;
  double recorded_s = 0;  // The replayed timelines, recorded service times.
  double at_bar_s = 0;    // The same with every call as slow as the bar allows.
  double tokens_in = 0;
  double tokens_out = 0;
  double blocks = 0;
  double blocks_hit = 0;

  double CallsIn(Duration time, double timeline_s) const {
    return timeline_s > 0 ? calls / timeline_s * ToSeconds(time) : 0;
  }
};

double LimitOf(const Bar& bar, Metric metric) {
  for (const Limit& limit : bar.limits) {
    if (limit.metric == metric) return limit.value;
  }
  return 0;
}

std::uint32_t OutputOf(const Call& call, const RunPlan& plan) {
  const std::uint32_t asked = AskFor(plan, call.tokens_out).asked;
  if (asked > 0) return asked;
  // Left to the model: the recorded one ended by itself too.
  return std::clamp<std::uint32_t>(call.tokens_out, 1, std::max(1u, plan.target.max_tokens));
}

// The session as it is expected to be served: a rehearsal that shortens calls shortens their time.
Session Shortened(Session session, std::uint32_t divisor) {
  for (Call& call : session.calls) call.service_ms /= std::max(1u, divisor);
  return session;
}

// The session with every call as slow as the bar allows, where it limits speed; never faster than
// recorded.
Session AtTheBar(Session session, const RunPlan& plan, const Bar& bar) {
  const double ttft_s = LimitOf(bar, Metric::kTtft);
  const double rate = LimitOf(bar, Metric::kInteractivity);
  if (ttft_s <= 0 && rate <= 0) return session;
  for (Call& call : session.calls) {
    const double decode_s = rate > 0 ? OutputOf(call, plan) / rate : 0;
    const double ms = std::min((ttft_s + decode_s) * 1e3, 4e9);
    call.service_ms = std::max(call.service_ms, static_cast<std::uint32_t>(ms));
  }
  return session;
}

// Calls fn(call, blocks) for the earlier calls whose prompts begin as that of call `c` does,
// nearest first, with the number of blocks shared, while it returns true.
template <typename Fn>
void ForAncestors(const Session& session, std::size_t c, Fn fn) {
  std::uint32_t shared = session.calls[c].kept_blocks;
  while (session.calls[c].ref >= 0) {
    c = static_cast<std::size_t>(session.calls[c].ref);
    if (!fn(c, shared)) return;
    shared = std::min(shared, session.calls[c].kept_blocks);
  }
}

// How many blocks of each call's prompt earlier calls have brought, with a cache that forgets
// nothing. Calls that are left out bring none.
std::vector<std::uint32_t> BlocksHit(const Session& session, const SessionGraph& graph) {
  std::vector<std::uint32_t> hit(session.calls.size(), 0);
  std::vector<std::uint32_t> brought(session.calls.size(), 0);  // Of each prompt, by calls so far.
  for (std::size_t c = 0; c < session.calls.size(); ++c) {
    ForAncestors(session, c, [&](std::size_t at, std::uint32_t shared) {
      hit[c] = std::max(hit[c], std::min(shared, brought[at]));
      return hit[c] < shared;
    });
    if (graph.left_out(c)) continue;
    brought[c] = session.calls[c].blocks();
    // What it keeps of prompts that were left out is there from now on.
    ForAncestors(session, c, [&](std::size_t at, std::uint32_t shared) {
      const bool fresh = brought[at] < shared;
      if (fresh) brought[at] = shared;
      return fresh;
    });
  }
  return hit;
}

TierLoad LoadOf(const TierPlan& tier, const RunPlan& plan, const Corpus& corpus,
                const Scenario& scenario) {
  TierLoad load;
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  const std::uint32_t scale = scenario.corpus.synthetic.empty() ? 1 : scenario.corpus.scale;
  for (const Session& recorded : corpus.sessions) {
    if (recorded.tier != tier.tier) continue;
    const Session session = Shortened(recorded, scale * plan.output_divisor);
    // What the context limit leaves out is not sent, and takes no time.
    const std::vector<char> left_out = LeftOut(plan, session);
    const SessionGraph graph(session, rule, left_out);
    load.calls += graph.calls();
    load.recorded_s += ToSeconds(graph.length());
    load.at_bar_s +=
        ToSeconds(SessionGraph(AtTheBar(session, plan, scenario.bar), rule, left_out).length());
    const std::vector<std::uint32_t> hit = BlocksHit(session, graph);
    for (std::size_t c = 0; c < session.calls.size(); ++c) {
      if (graph.left_out(c)) continue;
      const Call& call = session.calls[c];
      load.tokens_in += call.tokens_in;
      load.tokens_out += OutputOf(call, plan);
      load.blocks += call.blocks();
      load.blocks_hit += hit[c];
    }
  }
  return load;
}

Duration TimeFor(double calls, double expected, Duration measure) {
  if (expected <= 0) return Duration{0};
  return FromSeconds(std::min(ToSeconds(measure) * calls / expected, 1e9));
}

// The fewest attempts of which none fails that the judge passes at `limit`.
std::uint64_t FewestClean(double limit) {
  const auto passes = [limit](std::uint64_t n) {
    return ClopperPearson(0, static_cast<double>(n)).high < limit;
  };
  std::uint64_t high = 1;
  while (!passes(high)) {
    if (high > std::uint64_t{1} << 40) return kNoNumber;
    high *= 2;
  }
  std::uint64_t low = high / 2;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (passes(middle) ? high : low) = middle;
  }
  return high;
}

std::uint64_t CallsNeeded(const Limit& limit) {
  if (!IsBadShare(limit.metric)) return FewestForQuantile(limit.quantile);
  // How many answers call a tool, only the model knows.
  if (limit.metric == Metric::kToolCalls) return 1;
  const std::uint64_t clean = FewestClean(limit.value);
  if (clean == kNoNumber) return kNoNumber;
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(clean) * kDesignEffectAssumed));
}

// Between `clear`, which is not, and `close`, which is.
template <typename Fn>
double Edge(double clear, double close, Fn is_close) {
  for (int i = 0; i < 40; ++i) {
    const double middle = (clear + close) / 2;
    (is_close(middle) ? close : clear) = middle;
  }
  return close;
}

// Failed shares whose interval holds the limit.
Interval CloseBadShares(double limit, double effective) {
  const auto is_close = [limit, effective](double share) {
    const Interval interval = ClopperPearson(share * effective, effective);
    return interval.low <= limit && limit <= interval.high;
  };
  return {.low = is_close(0) ? 0 : Edge(0, limit, is_close),
          .high = is_close(1) ? 1 : Edge(1, limit, is_close)};
}

Precision PrecisionOf(const Limit& limit, const DryStep& step, Duration measure) {
  Precision part;
  part.limit = limit;
  part.calls = static_cast<std::uint64_t>(std::nearbyint(step.requests));
  part.calls_needed = CallsNeeded(limit);
  part.measure_needed = TimeFor(static_cast<double>(part.calls_needed), step.requests, measure);
  part.measure_needed_at_bar =
      TimeFor(static_cast<double>(part.calls_needed), step.requests_at_bar, measure);
  if (step.sessions < 2 || part.calls == 0 || limit.metric == Metric::kToolCalls) return part;
  part.measure_for_half = TimeFor(4 * step.requests, step.requests, measure);
  const double effective = static_cast<double>(part.calls) / kDesignEffectAssumed;
  if (IsBadShare(limit.metric)) {
    part.close = CloseBadShares(limit.value, effective);
    return part;
  }
  const double p = limit.quantile;
  const double half =
      StudentTQuantile(0.975, step.sessions - 1.0) * std::sqrt(p * (1 - p) / effective);
  part.close = Interval{.low = std::max(0.0, p - half), .high = std::min(1.0, p + half)};
  return part;
}

std::optional<Money> CostOf(const CostSpec& cost, Duration time) {
  const double micros =
      static_cast<double>(cost.per_node_hour.micros) * cost.nodes * (ToSeconds(time) / 3600);
  if (!(micros < 9e18)) return std::nullopt;
  // Cents: less is no figure that anybody pays.
  return Money{.micros = std::llround(micros / 1e4) * 10'000,
               .currency = cost.per_node_hour.currency};
}

DryStep StepOf(std::uint32_t sessions, const Scenario& scenario, const RunPlan& plan,
               const std::vector<TierLoad>& loads) {
  const Sweep& sweep = scenario.sweep;
  DryStep step;
  step.sessions = sessions;
  std::vector<std::uint32_t> slots(scenario.fleet.size());
  std::iota(slots.begin(), slots.end(), 0u);
  step.lanes_per_tier.resize(plan.tiers.size());
  step.lanes_per_agent.resize(slots.size());
  for (const LaneSpec& lane : AssignLanes(plan.tiers, sessions, slots)) {
    ++step.lanes_per_tier[lane.tier];
    ++step.lanes_per_agent[lane.agent_slot];
  }
  for (std::size_t t = 0; t < loads.size(); ++t) {
    const TierLoad& load = loads[t];
    if (load.calls <= 0) continue;
    const double calls = step.lanes_per_tier[t] * load.CallsIn(sweep.measure, load.recorded_s);
    step.requests += calls;
    step.requests_at_bar += step.lanes_per_tier[t] * load.CallsIn(sweep.measure, load.at_bar_s);
    const double tokens_in = calls * load.tokens_in / load.calls;
    step.tokens_in += tokens_in;
    step.tokens_cached += load.blocks > 0 ? tokens_in * load.blocks_hit / load.blocks : 0;
    step.tokens_out += calls * load.tokens_out / load.calls;
  }
  step.at_least = limits::kStartAhead + sweep.warm_up + sweep.measure;
  step.at_most = step.at_least + sweep.prime_limit + sweep.drain_limit;
  for (const Limit& limit : scenario.bar.limits) {
    step.parts.push_back(PrecisionOf(limit, step, sweep.measure));
  }
  return step;
}

}  // namespace

std::optional<Duration> MeasureOfBlocks(Duration needed, Duration block) {
  if (block <= Duration{0}) return std::nullopt;
  const std::int64_t blocks = std::max<std::int64_t>(1, (needed - Duration{1}) / block + 1);
  if (blocks > static_cast<std::int64_t>(limits::kBlocksMax) || blocks > kPhaseMax / block) {
    return std::nullopt;
  }
  return blocks * block;
}

DryPlan MakeDryPlan(const Scenario& scenario, const RunPlan& plan, const Corpus& corpus) {
  std::vector<TierLoad> loads;
  for (const TierPlan& tier : plan.tiers) {
    loads.push_back(LoadOf(tier, plan, corpus, scenario));
  }
  DryPlan dry;
  for (const std::uint32_t sessions : scenario.sweep.sessions) {
    dry.steps.push_back(StepOf(sessions, scenario, plan, loads));
    dry.at_least += dry.steps.back().at_least;
    dry.at_most += dry.steps.back().at_most;
  }
  if (scenario.cost.has_value()) {
    dry.cost_at_least = CostOf(*scenario.cost, dry.at_least);
    dry.cost_at_most = CostOf(*scenario.cost, dry.at_most);
  }
  return dry;
}

}  // namespace plimsoll
