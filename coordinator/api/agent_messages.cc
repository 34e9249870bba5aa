#include "coordinator/api/agent_messages.h"

#include <cmath>

#include "common/base/text.h"
#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

double Finite(double value) {
  return std::isfinite(value) ? value : 0;
}
double Seconds(std::int64_t ns) {
  return ToSeconds(Duration(ns));
}

void Fill(const HostLoad& host, v1::StepHost* out) {
  if (host.cores_used_max) out->set_cores_used_max(Finite(*host.cores_used_max));
  if (host.cores) out->set_cores(Finite(*host.cores));
  if (host.thread_share_max) out->set_thread_max_share(Finite(*host.thread_share_max));
  if (host.throttled_ns) out->set_throttled_s(Seconds(*host.throttled_ns));
  if (host.stolen_ns) out->set_stolen_s(Seconds(*host.stolen_ns));
  if (host.descriptors_max) out->set_descriptors_max(*host.descriptors_max);
  if (host.descriptors_limit) out->set_descriptors_limit(*host.descriptors_limit);
  if (host.ports_max) out->set_ports_max(*host.ports_max);
  if (host.ports_limit) out->set_ports_limit(*host.ports_limit);
}

}  // namespace

void FillAgent(const AgentEvidence& agent, bool told, v1::StepAgent* out) {
  out->set_slot(agent.slot);
  out->set_name(ValidUtf8(agent.name));
  out->set_lanes(agent.lanes);
  out->set_lost(agent.lost);
  if (!told) return;
  out->set_attempts(agent.attempts);
  out->set_skew_s(Seconds(agent.skew_ns));
  out->set_lateness_p99_s(Seconds(agent.lateness_p99_ns));
  out->set_lateness_max_s(Seconds(agent.lateness_max_ns));
  out->set_loop_lag_max_s(Seconds(agent.loop_lag_max_ns));
  out->set_loop_stalled_s(Seconds(agent.loop_stalled_ns));
  out->set_wall_moved_s(Seconds(agent.wall_moved_ns));
  out->set_cpu_max_share(Finite(agent.cpu_share_max));
  out->set_records_lost(agent.records_lost);
  if (agent.host != HostLoad{}) Fill(agent.host, out->mutable_host());
}

}  // namespace plimsoll
