#include "coordinator/report/agent_figures.h"

namespace plimsoll {
namespace {

using Real = std::optional<double>;
using Time = std::optional<Duration>;
using Count = std::optional<std::uint64_t>;

Time TimeOf(const std::optional<std::int64_t>& ns) {
  return ns ? Time(Duration(*ns)) : std::nullopt;
}

}  // namespace

std::vector<AgentFigure> FiguresOf(const AgentEvidence& agent) {
  return {{"attempts", Count(agent.attempts)},
          {"skew", TimeOf(agent.skew_ns)},
          {"lateness_p99", TimeOf(agent.lateness_p99_ns)},
          {"lateness_max", TimeOf(agent.lateness_max_ns)},
          {"loop_lag_max", TimeOf(agent.loop_lag_max_ns)},
          {"loop_stalled", TimeOf(agent.loop_stalled_ns)},
          {"cpu_share_max", Real(agent.cpu_share_max)},
          {"wall_moved", TimeOf(agent.wall_moved_ns)},
          {"records_lost", Count(agent.records_lost)}};
}

std::vector<AgentFigure> FiguresOf(const HostLoad& host) {
  return {{"cores_used_max", host.cores_used_max},
          {"cores", host.cores},
          {"thread_share_max", host.thread_share_max},
          {"throttled", TimeOf(host.throttled_ns)},
          {"stolen", TimeOf(host.stolen_ns)},
          {"descriptors_max", host.descriptors_max},
          {"descriptors_limit", host.descriptors_limit},
          {"ports_max", host.ports_max},
          {"ports_limit", host.ports_limit}};
}

}  // namespace plimsoll
