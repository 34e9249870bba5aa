#include "agent/app/agent_metrics.h"

#include "common/base/version.h"

namespace plimsoll {
namespace {

MetricSeries One(MetricKind kind, std::string name, std::string help, double value) {
  return {std::move(name), std::move(help), kind, {{{}, value}}};
}
MetricSeries Gauge(std::string name, std::string help, double value) {
  return One(MetricKind::kGauge, std::move(name), std::move(help), value);
}
MetricSeries Counter(std::string name, std::string help, std::uint64_t value) {
  return One(MetricKind::kCounter, std::move(name), std::move(help), static_cast<double>(value));
}

MetricSeries Attempts(const OutcomeCounts& attempts) {
  MetricSeries series{"plimsoll_agent_attempts_total",
                      "Attempts that have ended, by outcome.",
                      MetricKind::kCounter,
                      {}};
  for (std::size_t i = 1; i < kOutcomes; ++i) {
    series.samples.push_back({{{"outcome", std::string(Name(static_cast<Outcome>(i)))}},
                              static_cast<double>(attempts[i])});
  }
  return series;
}

}  // namespace

std::vector<MetricSeries> AgentMetrics(const AgentNow& now, const AgentSelf& self) {
  const UplinkCounts& records = now.records;
  return {
      {"plimsoll_agent_build_info",
       "1; the version is the label.",
       MetricKind::kGauge,
       {{{{"version", kVersion}}, 1.0}}},
      Gauge("plimsoll_agent_in_run", "1 once the plan and its corpus are here.",
            now.in_run ? 1.0 : 0.0),
      Gauge("plimsoll_agent_slot", "The agent's slot in the fleet.", now.slot),
      Gauge("plimsoll_agent_lanes", "Lanes alive.", now.lanes),
      Gauge("plimsoll_agent_calls_in_flight", "Requests in flight.", now.calls_in_flight),
      Attempts(records.attempts),
      Counter("plimsoll_agent_body_resends_total",
              "Request bodies that were sent again within an attempt.", records.body_resends),
      Gauge("plimsoll_agent_records_queued", "Records kept because they are not acked yet.",
            static_cast<double>(records.records_queued)),
      Counter("plimsoll_agent_records_acked_total", "Records that the coordinator has stored.",
              records.records_acked),
      Counter("plimsoll_agent_records_lost_total",
              "Records dropped at the bound of memory; any voids the step.", records.records_lost),
      Counter("plimsoll_agent_batch_resends_total",
              "Batches of records sent again because no ack came.", records.batch_resends),
      Gauge("plimsoll_agent_loop_lag_seconds",
            "Worst lateness of the event loop in the last whole second.",
            ToSeconds(self.loop_lag_last_second)),
      Gauge("plimsoll_agent_loop_lag_max_seconds",
            "Worst lateness of the event loop since the step's measured time began.",
            ToSeconds(self.loop_lag_max)),
      Gauge("plimsoll_agent_cpu_max_share",
            "Busiest second of the event loop since the step's measured time began, as a share of "
            "one core.",
            self.cpu_share_max),
      Gauge("plimsoll_agent_coordinator_silent_seconds", "Since the coordinator was last heard.",
            ToSeconds(now.coordinator_silent_for)),
  };
}

}  // namespace plimsoll
