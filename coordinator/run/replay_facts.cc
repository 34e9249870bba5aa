#include "coordinator/run/replay_facts.h"

#include <algorithm>
#include <utility>

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

// A call that begins as another ends takes its place.
std::uint32_t PeakInFlight(const Session& session, const SessionGraph& graph) {
  std::vector<std::pair<Duration, int>> changes;
  for (std::size_t c = 0; c < graph.size(); ++c) {
    if (graph.left_out(c)) continue;
    // Even a call that took no time has a request.
    const Duration service = std::max<Duration>(1ms, FromMillis(session.calls[c].service_ms));
    changes.emplace_back(graph.release(c), 1);
    changes.emplace_back(graph.release(c) + service, -1);
  }
  std::sort(changes.begin(), changes.end());
  int now = 0;
  int peak = 1;
  for (const auto& [at, change] : changes) peak = std::max(peak, now += change);
  return static_cast<std::uint32_t>(peak);
}

std::vector<std::uint32_t> PeaksInFlight(const Corpus& corpus, const RunPlan& plan) {
  const DelayRule rule{plan.think_time, plan.think_time_cap};
  const ContextFilter filter(plan, corpus);
  std::vector<std::uint32_t> peaks(plan.tiers.size(), 1);
  for (std::uint32_t s = 0; s < corpus.sessions.size(); ++s) {
    const Session& session = corpus.sessions[s];
    if (!filter.Plays(s)) continue;
    const std::uint32_t peak =
        PeakInFlight(session, SessionGraph(session, rule, filter.left_out(s)));
    for (std::size_t t = 0; t < peaks.size(); ++t) {
      if (plan.tiers[t].tier == session.tier) peaks[t] = std::max(peaks[t], peak);
    }
  }
  return peaks;
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
      peaks_in_flight_(PeaksInFlight(corpus, plan)),
      cache_forecast_(ForecastCache(corpus, plan)) {
  for (const TierPlan& tier : plan.tiers) tier_names_.push_back(tier.name);
}

void ReplayFacts::Describe(ReplaySummary* replay) const {
  std::vector<TierReplay> tiers = std::move(replay->tiers);
  for (std::size_t t = 0; t < tiers.size(); ++t) tiers[t].context = left_out_[t];
  *replay = rules_;
  replay->tiers = std::move(tiers);
}

}  // namespace plimsoll
