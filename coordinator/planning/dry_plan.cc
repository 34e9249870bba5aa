#include "coordinator/planning/dry_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/base/limits.h"
#include "common/plan/context_limit.h"
#include "common/plan/lanes.h"
#include "common/plan/output_length.h"
#include "common/plan/session_graph.h"
#include "common/stats/student_t.h"
#include "coordinator/judge/metrics.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/judge/share_cell.h"
#include "coordinator/judge/spread.h"
#include "coordinator/judge/step_origin.h"
#include "coordinator/planning/decision.h"
#include "coordinator/planning/prefix_hits.h"
#include "coordinator/scenario/scenario_check.h"

namespace plimsoll {
namespace {

// What the calls that a tier sends are like: sums over all of them.
struct TierLoad {
  double calls = 0;
  double recorded_s = 0;        // The replayed timelines, recorded service times.
  double at_bar_s = 0;          // The same with every call as slow as the bar allows.
  double service_s = 0;         // Of recorded_s with a call in flight, each call for itself.
  double service_at_bar_s = 0;  // Likewise of at_bar_s.
  double tokens_in = 0;
  double tokens_out = 0;
  double blocks = 0;
  double blocks_hit = 0;

  double CallsIn(Duration time, double timeline_s) const {
    return timeline_s > 0 ? calls / timeline_s * ToSeconds(time) : 0;
  }
};

// The tightest limit that a tier's calls have to keep; 0: none.
double LimitOf(const Bar& bar, Metric metric, const std::string& tier) {
  const bool at_most = TraitsOf(metric).at_most;
  double tightest = 0;
  for (const Limit& limit : bar.limits) {
    if (limit.metric != metric || (!limit.tier.empty() && limit.tier != tier)) continue;
    const bool tighter = at_most ? limit.value < tightest : limit.value > tightest;
    if (tightest == 0 || tighter) tightest = limit.value;
  }
  return tightest;
}

// What the bar allows a tier's calls.
struct Allowed {
  double ttft_s = 0;  // 0, here and below: it has no such limit.
  double rate = 0;
  double end_to_end_rate = 0;
  double answer_s = 0;

  bool nothing() const { return ttft_s <= 0 && rate <= 0 && end_to_end_rate <= 0 && answer_s <= 0; }
  double SlowestAnswer(double tokens) const {
    double slowest = std::numeric_limits<double>::infinity();
    if (ttft_s > 0 || rate > 0) slowest = ttft_s + (rate > 0 ? tokens / rate : 0);
    if (end_to_end_rate > 0) slowest = std::min(slowest, tokens / end_to_end_rate);
    if (answer_s > 0) slowest = std::min(slowest, answer_s);
    return slowest;
  }
};

Allowed AllowedBy(const Bar& bar, const std::string& tier) {
  return {.ttft_s = LimitOf(bar, Metric::kTtft, tier),
          .rate = LimitOf(bar, Metric::kInteractivity, tier),
          .end_to_end_rate = LimitOf(bar, Metric::kEndToEndInteractivity, tier),
          .answer_s = LimitOf(bar, Metric::kGoodput, tier)};
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
Session AtTheBar(Session session, const RunPlan& plan, const Allowed& allowed) {
  if (allowed.nothing()) return session;
  for (Call& call : session.calls) {
    const double ms = std::min(allowed.SlowestAnswer(OutputOf(call, plan)) * 1e3, 4e9);
    call.service_ms = std::max(call.service_ms, static_cast<std::uint32_t>(ms));
  }
  return session;
}

TierLoad LoadOf(const TierPlan& tier, const RunPlan& plan, const Corpus& corpus,
                const Scenario& scenario) {
  TierLoad load;
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  const Allowed allowed = AllowedBy(scenario.bar, tier.name);
  const std::uint32_t scale = scenario.corpus.synthetic.empty() ? 1 : scenario.corpus.scale;
  for (const Session& recorded : corpus.sessions) {
    if (recorded.tier != tier.tier) continue;
    const Session session = Shortened(recorded, scale * plan.output_divisor);
    // What the context limit leaves out is not sent, and takes no time.
    const std::vector<char> left_out = LeftOut(plan, session);
    const SessionGraph graph(session, rule, left_out);
    load.calls += graph.calls();
    load.recorded_s += ToSeconds(graph.length());
    const Session at_bar = AtTheBar(session, plan, allowed);
    load.at_bar_s += ToSeconds(SessionGraph(at_bar, rule, left_out).length());
    const std::vector<std::uint32_t> hit = PrefixBlocksHit(session, graph, SharedPrefix::kNo);
    for (std::size_t c = 0; c < session.calls.size(); ++c) {
      if (graph.left_out(c)) continue;
      const Call& call = session.calls[c];
      load.service_s += ToSeconds(FromMillis(call.service_ms));
      load.service_at_bar_s += ToSeconds(FromMillis(at_bar.calls[c].service_ms));
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

// The lanes and calls that a limit is about.
struct Sample {
  std::uint32_t lanes = 0;
  double requests = 0;
  double requests_at_bar = 0;
};

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
  const std::uint64_t clean = FewestClean(StrictEdge(limit));
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

// Failed shares that neither pass at the limit's stricter edge nor fail at its looser one: whose
// interval holds the limit, where it has no interval of its own.
Interval CloseBadShares(const Limit& limit, double effective) {
  const auto of = [effective](double share) {
    return ClopperPearson(share * effective, effective);
  };
  const double strict = std::clamp(StrictEdge(limit), 0.0, 1.0);
  const double loose = std::clamp(LooseEdge(limit), 0.0, 1.0);
  const auto passes_not = [&](double share) { return of(share).high >= strict; };
  const auto fails_not = [&](double share) { return of(share).low <= loose; };
  return {.low = passes_not(0) ? 0 : Edge(0, strict, passes_not),
          .high = fails_not(1) ? 1 : Edge(1, loose, fails_not)};
}

Precision PrecisionOf(const Limit& limit, const Sample& step, const Sweep& sweep) {
  const Duration measure = sweep.measure;
  Precision part;
  part.limit = limit;
  part.calls = static_cast<std::uint64_t>(std::nearbyint(step.requests));
  part.calls_needed = CallsNeeded(limit);
  part.measure_needed = TimeFor(static_cast<double>(part.calls_needed), step.requests, measure);
  part.measure_needed_at_bar =
      TimeFor(static_cast<double>(part.calls_needed), step.requests_at_bar, measure);
  if (step.lanes < 2 || part.calls == 0 || limit.metric == Metric::kToolCalls) return part;
  part.measure_for_half = TimeFor(4 * step.requests, step.requests, measure);
  const double effective = static_cast<double>(part.calls) / kDesignEffectAssumed;
  const bool bad = IsBadShare(limit.metric);
  const double p = bad ? limit.value : limit.quantile;
  const double half =
      StudentTQuantile(0.975, step.lanes - 1.0) * std::sqrt(p * (1 - p) / effective);
  part.close = bad ? CloseBadShares(limit, effective)
                   : Interval{.low = std::max(0.0, p - half), .high = std::min(1.0, p + half)};
  part.too_few_slices =
      !bad && SlicesExpected(measure, sweep.block, step.lanes, step.requests) < kSlicesMin;
  if (part.too_few_slices) part.close = Interval{.low = 0, .high = 1};
  const Chances chances = ChancesOfDecision(limit, part.calls, *part.close);
  part.better_passes = chances.better_passes;
  part.worse_fails = chances.worse_fails;
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

// `tiers` are the plan's, as the step's ladder shares lanes out.
DryStep StepOf(std::uint32_t sessions, const Scenario& scenario, const std::vector<TierPlan>& tiers,
               const std::vector<TierLoad>& loads) {
  const Sweep& sweep = scenario.sweep;
  DryStep step;
  step.sessions = sessions;
  std::vector<std::uint32_t> slots(scenario.fleet.size());
  std::iota(slots.begin(), slots.end(), 0u);
  step.lanes_per_tier.resize(tiers.size());
  step.lanes_per_agent.resize(slots.size());
  for (const LaneSpec& lane : AssignLanes(tiers, sessions, slots)) {
    ++step.lanes_per_tier[lane.tier];
    ++step.lanes_per_agent[lane.agent_slot];
  }
  std::vector<Sample> samples(loads.size());
  for (std::size_t t = 0; t < loads.size(); ++t) {
    const TierLoad& load = loads[t];
    const std::uint32_t lanes = step.lanes_per_tier[t];
    const double calls = lanes * load.CallsIn(sweep.measure, load.recorded_s);
    samples[t] = {lanes, calls, lanes * load.CallsIn(sweep.measure, load.at_bar_s)};
    if (load.calls <= 0) continue;
    step.requests += calls;
    step.requests_at_bar += samples[t].requests_at_bar;
    if (load.recorded_s > 0) step.in_flight += lanes * load.service_s / load.recorded_s;
    if (load.at_bar_s > 0) step.in_flight_at_bar += lanes * load.service_at_bar_s / load.at_bar_s;
    const double tokens_in = calls * load.tokens_in / load.calls;
    step.tokens_in += tokens_in;
    step.tokens_cached += load.blocks > 0 ? tokens_in * load.blocks_hit / load.blocks : 0;
    step.tokens_out += calls * load.tokens_out / load.calls;
  }
  step.at_least = limits::kStartAhead + sweep.warm_up + sweep.measure;
  step.at_most = step.at_least + sweep.prime_limit + sweep.drain_limit;
  const Sample all{sessions, step.requests, step.requests_at_bar};
  for (const Limit& limit : scenario.bar.limits) {
    const auto tier = std::find_if(tiers.begin(), tiers.end(),
                                   [&](const TierPlan& t) { return t.name == limit.tier; });
    const bool of_tier = tier != tiers.end();
    if (of_tier && tier->share == 0) continue;  // The ladder leaves it out, and so does the judge.
    const Sample& sample = of_tier ? samples[static_cast<std::size_t>(tier - tiers.begin())] : all;
    step.parts.push_back(PrecisionOf(limit, sample, sweep));
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
  const auto add = [&](const std::string& ladder, const std::vector<TierPlan>& tiers) {
    for (const std::uint32_t sessions : scenario.sweep.sessions) {
      dry.steps.push_back(StepOf(sessions, scenario, tiers, loads));
      DryStep& step = dry.steps.back();
      step.ladder = ladder;
      const bool drains = dry.steps.size() > 1 && (scenario.sweep.drain_between_steps ||
                                                   sessions == scenario.sweep.sessions.front());
      if (drains) step.at_most += scenario.sweep.drain_limit;
      dry.at_least += step.at_least;
      dry.at_most += step.at_most;
    }
  };
  add(kMixLadder, plan.tiers);
  for (const TierPlan& alone : scenario.tier_ladders) {
    add(alone.name, TiersAlone(plan.tiers, TierIndex(plan.tiers, alone.tier)));
  }
  if (scenario.sweep.budget) {
    dry.at_least = std::min(dry.at_least, *scenario.sweep.budget);
    dry.at_most = std::min(dry.at_most, *scenario.sweep.budget);
  }
  if (scenario.cost.has_value()) {
    dry.cost_at_least = CostOf(*scenario.cost, dry.at_least);
    dry.cost_at_most = CostOf(*scenario.cost, dry.at_most);
  }
  return dry;
}

}  // namespace plimsoll
