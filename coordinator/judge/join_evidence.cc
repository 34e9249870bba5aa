#include "coordinator/judge/join_evidence.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace plimsoll {
namespace {

AgentEvidence* Find(std::vector<AgentEvidence>& agents, std::uint32_t slot) {
  const auto at = std::find_if(agents.begin(), agents.end(),
                               [&](const AgentEvidence& a) { return a.slot == slot; });
  return at == agents.end() ? nullptr : &*at;
}

void Add(std::vector<AgentEvidence>& agents, const AgentEvidence& more) {
  AgentEvidence* agent = Find(agents, more.slot);
  if (agent == nullptr) {
    agents.push_back(more);
    return;
  }
  agent->name = more.name;
  agent->lanes = std::max(agent->lanes, more.lanes);
  agent->attempts += more.attempts;
  agent->skew_ns = std::max(agent->skew_ns, more.skew_ns);
  agent->lateness_p99_ns = std::max(agent->lateness_p99_ns, more.lateness_p99_ns);
  agent->lateness_max_ns = std::max(agent->lateness_max_ns, more.lateness_max_ns);
  agent->loop_lag_max_ns = std::max(agent->loop_lag_max_ns, more.loop_lag_max_ns);
  agent->loop_stalled_ns += more.loop_stalled_ns;
  agent->cpu_share_max = std::max(agent->cpu_share_max, more.cpu_share_max);
  agent->records_lost += more.records_lost;
  agent->lost = agent->lost || more.lost;
  agent->wall_moved_ns += more.wall_moved_ns;
  agent->no_tally = agent->no_tally || more.no_tally;
}

// Absent only where neither has one.
void Add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

void AddSums(StepEvidence& joint, const StepEvidence& more, std::uint32_t blocks) {
  joint.CallEvidence::Merge(more);
  for (std::size_t t = 0; t < more.tiers.size() && t < joint.tiers.size(); ++t) {
    joint.tiers[t].Merge(more.tiers[t]);
  }
  joint.suspicion.Extend(more.suspicion, blocks);
  for (std::size_t s = 0; s < kLaneStates; ++s) joint.lane_state_ns[s] += more.lane_state_ns[s];
  joint.planned_lane_ns += more.planned_lane_ns;
  for (std::size_t t = 0; t < more.replay.tiers.size() && t < joint.replay.tiers.size(); ++t) {
    joint.replay.tiers[t].fidelity.Add(more.replay.tiers[t].fidelity);
  }
  joint.ttft_sent_ns.Merge(more.ttft_sent_ns);
  Add(joint.tokens_in, more.tokens_in);
  Add(joint.tokens_cached, more.tokens_cached);
  Add(joint.tokens_out, more.tokens_out);
}

}  // namespace

std::vector<CellCounts> JoinCells(std::vector<CellCounts> first, std::vector<CellCounts> more,
                                  std::uint32_t blocks) {
  for (CellCounts& cell : more) {
    cell.block += blocks;
    first.push_back(std::move(cell));
  }
  std::stable_sort(first.begin(), first.end(), [](const CellCounts& a, const CellCounts& b) {
    return std::tie(a.lane, a.block, a.half) < std::tie(b.lane, b.block, b.half);
  });
  return first;
}

StepEvidence JoinEvidence(const StepEvidence& first, const StepEvidence& more) {
  StepEvidence joint = first;
  const double first_s = ToSeconds(first.plan.measure);
  const double more_s = ToSeconds(more.plan.measure);
  joint.plan.step = more.plan.step;
  joint.plan.measure += more.plan.measure;
  const std::uint32_t blocks = first.plan.blocks();
  joint.cells = JoinCells(std::move(joint.cells), more.cells, blocks);
  AddSums(joint, more, blocks);
  for (const AgentEvidence& agent : more.agents) Add(joint.agents, agent);
  for (Identity identity : more.identities) {
    identity.name += " (extension)";
    joint.identities.push_back(std::move(identity));
  }
  if (first_s + more_s > 0) {
    joint.requests_in_flight_mean =
        (first.requests_in_flight_mean * first_s + more.requests_in_flight_mean * more_s) /
        (first_s + more_s);
  }
  joint.fidelity.Merge(more.fidelity);
  return joint;
}

}  // namespace plimsoll
