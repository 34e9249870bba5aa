#include "coordinator/api/coordinator_metrics.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "common/base/version.h"

namespace plimsoll {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

MetricSeries Gauge(std::string name, std::string help, double value) {
  return {std::move(name), std::move(help), MetricKind::kGauge, {{{}, value}}};
}

template <typename Value>
MetricSeries Gauge(std::string name, std::string help, const std::optional<Value>& value) {
  MetricSeries series{std::move(name), std::move(help), MetricKind::kGauge, {}};
  if (value.has_value()) series.samples.push_back({{}, static_cast<double>(*value)});
  return series;
}

MetricSeries RunsByState(const RunCounts& runs) {
  MetricSeries series{
      "plimsoll_runs", "Runs that the store keeps, by where they stand.", MetricKind::kGauge, {}};
  for (std::size_t i = 1; i < runs.size(); ++i) {
    series.samples.push_back(
        {{{"state", Name(static_cast<RunState>(i))}}, static_cast<double>(runs[i])});
  }
  return series;
}

MetricSeries Phases(RunPhase now) {
  MetricSeries series{"plimsoll_run_phase",
                      "1 for the phase that the run is in, 0 for the others.",
                      MetricKind::kGauge,
                      {}};
  for (int i = 0; i < kRunPhases; ++i) {
    const auto phase = static_cast<RunPhase>(i);
    std::string name = Name(phase);
    std::replace(name.begin(), name.end(), ' ', '_');
    series.samples.push_back({{{"phase", std::move(name)}}, phase == now ? 1.0 : 0.0});
  }
  return series;
}

// A gauge: the count begins anew with every step.
MetricSeries Outcomes(const LiveNumbers& numbers) {
  MetricSeries series{"plimsoll_step_attempts",
                      "Attempts released in the step's measured time that have ended, by outcome.",
                      MetricKind::kGauge,
                      {}};
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    series.samples.push_back({{{"outcome", std::string(Name(static_cast<Outcome>(i)))}},
                              static_cast<double>(numbers.outcomes[i])});
  }
  return series;
}

template <typename Value>
MetricSeries ByAgent(std::string name, std::string help, const std::vector<LiveAgent>& agents,
                     Value value) {
  MetricSeries series{std::move(name), std::move(help), MetricKind::kGauge, {}};
  for (const LiveAgent& agent : agents) {
    series.samples.push_back({{{"slot", fmt::format("{}", agent.slot)}, {"agent", agent.name}},
                              static_cast<double>(value(agent))});
  }
  return series;
}

void AddStep(const LiveStatus& s, std::vector<MetricSeries>* page) {
  page->push_back(
      Gauge("plimsoll_step_index", "Index of the step that is prepared or running.", s.step));
  page->push_back(Gauge("plimsoll_steps_judged", "Steps judged so far.", s.steps_judged * 1.0));
  page->push_back(Gauge("plimsoll_steps_planned", "Steps of the sweep.", s.steps_planned * 1.0));
  page->push_back(
      Gauge("plimsoll_lanes_planned", "Concurrent sessions of the step.", s.sessions * 1.0));
  page->push_back(Gauge("plimsoll_lanes", "Lanes alive over all agents.", s.lanes * 1.0));
  page->push_back(Gauge("plimsoll_calls_in_flight", "Requests in flight over all agents.",
                        s.calls_in_flight * 1.0));
  page->push_back(Outcomes(s.numbers));
  const std::optional<double> ttft =
      s.numbers.ttft_p90_infinite ? std::numeric_limits<double>::infinity() : s.numbers.ttft_p90_s;
  page->push_back(Gauge("plimsoll_step_ttft_p90_seconds",
                        "90th percentile of the step's time to first token so far; +Inf if it fell "
                        "among failed calls, absent while there is none.",
                        ttft));
  page->push_back(Gauge("plimsoll_step_interactivity_p90_tokens_per_second",
                        "Speed that 90% of the step's calls reach or beat so far; absent while "
                        "there is none.",
                        s.numbers.rate_reached_by_90_tok_s));
}

}  // namespace

RunCounts CountRuns(const std::vector<RunInfo>& runs) {
  RunCounts counts{};
  for (const RunInfo& run : runs) {
    const auto state = static_cast<std::size_t>(run.state);
    if (state < counts.size()) ++counts[state];
  }
  return counts;
}

std::vector<MetricSeries> CoordinatorMetrics(const RunCounts& runs,
                                             const std::optional<LiveRun>& live) {
  std::vector<MetricSeries> page;
  page.push_back({"plimsoll_build_info",
                  "1; the version is the label.",
                  MetricKind::kGauge,
                  {{{{"version", kVersion}}, 1.0}}});
  page.push_back(RunsByState(runs));
  const bool here = live.has_value() && live->status.has_value();
  page.push_back(Gauge("plimsoll_run_live", "1 while this process runs a run.", here ? 1.0 : 0.0));
  if (!here) return page;
  const LiveStatus& s = *live->status;
  page.push_back(Phases(s.phase));
  page.push_back(
      Gauge("plimsoll_run_running_seconds", "Since the run began.", ToSeconds(s.running_for)));
  AddStep(s, &page);
  page.push_back({"plimsoll_records_acked_total",
                  "Records that are stored, of the whole run.",
                  MetricKind::kCounter,
                  {{{}, static_cast<double>(s.records_acked)}}});
  page.push_back(Gauge("plimsoll_agents_alive", "Agents that are here.", s.agents_present * 1.0));
  page.push_back(
      Gauge("plimsoll_agents_planned", "Agents that the run wants.", s.agents_planned * 1.0));
  page.push_back(ByAgent("plimsoll_fleet_agent_lanes", "Lanes of the agent, as it last said.",
                         s.agents, [](const LiveAgent& agent) { return agent.lanes; }));
  page.push_back(ByAgent("plimsoll_fleet_agent_silent_seconds", "Since the agent was last heard.",
                         s.agents,
                         [](const LiveAgent& agent) { return ToSeconds(agent.silent_for); }));
  return page;
}

}  // namespace plimsoll
