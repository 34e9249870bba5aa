#include "coordinator/run/replay_facts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/limits.h"
#include "common/corpus/in_flight.h"
#include "common/plan/session_graph.h"
#include "coordinator/planning/prefix_hits.h"

namespace plimsoll {
namespace {

std::vector<Duration> RecordedCycles(const Corpus& corpus, const RunPlan& plan) {
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  const ContextFilter filter(plan, corpus);
  std::vector<Duration> cycles;
  for (const TierPlan& tier : plan.tiers) {
    std::vector<Duration> all;
    for (std::uint32_t s = 0; s < corpus.sessions.size(); ++s) {
      if (corpus.sessions[s].tier != tier.tier) continue;
      const std::vector<Call>& calls = corpus.sessions[s].calls;
      for (std::size_t c = 0; c < calls.size(); ++c) {
        if (!filter.Plays(s, c)) continue;
        all.push_back(FromMillis(calls[c].service_ms) + rule.Apply(FromMillis(calls[c].delay_ms)));
      }
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    if (!all.empty()) std::nth_element(all.begin(), middle, all.end());
    cycles.push_back(all.empty() ? Duration{1s} : *middle);
  }
  return cycles;
}

InFlight SessionInFlight(const Session& session, const SessionGraph& graph) {
  std::vector<std::pair<Duration, Duration>> calls;
  for (std::size_t c = 0; c < graph.size(); ++c) {
    if (graph.left_out(c)) continue;
    // Even a call that took no time has a request.
    calls.emplace_back(graph.release(c),
                       std::max<Duration>(1ms, FromMillis(session.calls[c].service_ms)));
  }
  return InFlightOf(calls);
}

// Of the server's answers, if they are as long as the recorded ones.
double HistoryBytes(const Session& session, const SessionGraph& graph) {
  double bytes = 0;
  for (std::size_t c = 0; c < graph.size(); ++c) {
    if (!graph.left_out(c)) bytes += session.calls[c].tokens_out * double{limits::kTokenBytes};
  }
  return std::min(bytes, static_cast<double>(limits::kLiveHistoryBytesMax));
}

// Busy time counts, idle time does not: on a slower deployment than the recorded one it is gone.
std::vector<LaneLoad> LaneLoads(const Corpus& corpus, const RunPlan& plan) {
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  const ContextFilter filter(plan, corpus);
  std::vector<LaneLoad> loads(plan.tiers.size());
  for (std::size_t t = 0; t < loads.size(); ++t) {
    InFlight all;
    double history = 0;
    double sessions = 0;
    for (std::uint32_t s = 0; s < corpus.sessions.size(); ++s) {
      const Session& session = corpus.sessions[s];
      if (session.tier != plan.tiers[t].tier || !filter.Plays(s)) continue;
      const SessionGraph graph(session, rule, filter.left_out(s));
      const InFlight one = SessionInFlight(session, graph);
      all.peak = std::max(all.peak, one.peak);
      all.busy_s += one.busy_s;
      all.in_flight_s += one.in_flight_s;
      all.in_flight_sq_s += one.in_flight_sq_s;
      if (plan.history == History::kLive) history += HistoryBytes(session, graph);
      sessions += 1;
    }
    if (all.busy_s <= 0) continue;
    LaneLoad& load = loads[t];
    load.mean = all.in_flight_s / all.busy_s;
    load.variance = std::max(0.0, all.in_flight_sq_s / all.busy_s - load.mean * load.mean);
    load.peak = all.peak;
    load.history_bytes = history / sessions;
    load.history_bytes_max =
        plan.history == History::kLive ? double{limits::kLiveHistoryBytesMax} : 0;
  }
  return loads;
}

// Sessions that are not played have none.
CacheForecast ForecastCache(const Corpus& corpus, const RunPlan& plan) {
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  const ContextFilter filter(plan, corpus);
  CacheForecast forecast(corpus.sessions.size());
  for (std::uint32_t s = 0; s < corpus.sessions.size(); ++s) {
    if (!filter.Plays(s)) continue;
    const Session& session = corpus.sessions[s];
    const SessionGraph graph(session, rule, filter.left_out(s));
    forecast[s] = PrefixBlocksHit(session, graph,
                                  plan.isolate_prefixes ? SharedPrefix::kNo : SharedPrefix::kYes);
    for (std::uint32_t& blocks : forecast[s]) blocks *= limits::kBlockTokens;
  }
  return forecast;
}

}  // namespace

ReplayFacts::ReplayFacts(const RunPlan& plan, const Corpus& corpus)
    : rules_{.think_time = plan.think_time,
             .think_time_cap = plan.think_time_cap,
             .context_limit = plan.context_limit,
             .history = plan.history,
             .tiers = {}},
      left_out_(CountLeftOut(plan, corpus)),
      recorded_cycles_(RecordedCycles(corpus, plan)),
      lane_loads_(LaneLoads(corpus, plan)),
      cache_forecast_(ForecastCache(corpus, plan)) {
  for (const TierPlan& tier : plan.tiers) tier_names_.push_back(tier.name);
}

LaneNeeds ReplayFacts::NeedsOf(const std::vector<std::uint32_t>& lanes_per_tier) const {
  constexpr double kDeviations = 3;
  double lanes = 0;
  double mean = 0;
  double variance = 0;
  double peak = 0;
  double history = 0;
  double history_max = 0;
  for (std::size_t t = 0; t < lane_loads_.size() && t < lanes_per_tier.size(); ++t) {
    const LaneLoad& load = lane_loads_[t];
    const double n = lanes_per_tier[t];
    lanes += n;
    mean += n * load.mean;
    variance += n * load.variance;
    peak += n * load.peak;
    history += n * load.history_bytes;
    history_max += n * load.history_bytes_max;
  }
  const double expected =
      std::clamp(std::ceil(mean + kDeviations * std::sqrt(variance)), lanes, std::max(lanes, peak));
  const auto whole = [](double value) { return static_cast<std::uint64_t>(value); };
  const auto count = static_cast<std::uint32_t>(lanes);
  return {.expected = {count, whole(expected), whole(history)},
          .most = {count, whole(std::max(lanes, peak)), whole(history_max)}};
}

void ReplayFacts::Describe(ReplaySummary* replay) const {
  std::vector<TierReplay> tiers = std::move(replay->tiers);
  for (std::size_t t = 0; t < tiers.size(); ++t) tiers[t].context = left_out_[t];
  *replay = rules_;
  replay->tiers = std::move(tiers);
}

}  // namespace plimsoll
