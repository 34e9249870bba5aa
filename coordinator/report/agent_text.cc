#include "coordinator/report/agent_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {
namespace {

constexpr const char* kAbsent = "–";
constexpr std::size_t kNameColumns = 32;

std::string NameCell(const AgentEvidence& agent) {
  return "  " + FirstColumns(Printable(agent.name), kNameColumns);
}

std::string Millis(std::int64_t ns) {
  return fmt::format("{:.1f}", static_cast<double>(ns) * 1e-6);
}

std::string Remark(const AgentEvidence& agent) {
  std::string remark = agent.lost ? "lost" : "";
  if (agent.records_lost > 0) {
    remark += fmt::format("{}{} records lost", remark.empty() ? "" : ", ", agent.records_lost);
  }
  return remark;
}

std::string ShareOfTime(const std::optional<std::int64_t>& ns, const StepPlan& plan) {
  if (!ns || plan.measure <= Duration{0}) return kAbsent;
  return fmt::format("{:.1f}",
                     static_cast<double>(*ns) / static_cast<double>(plan.measure.count()) * 100);
}

std::string Of(const std::optional<double>& value, const std::optional<double>& limit) {
  if (!value) return kAbsent;
  return fmt::format("{:.3g}/{}", *value, limit ? fmt::format("{:.3g}", *limit) : kAbsent);
}
std::string Of(const std::optional<std::uint64_t>& count,
               const std::optional<std::uint64_t>& limit) {
  if (!count) return kAbsent;
  return fmt::format("{}/{}", *count, limit ? fmt::format("{}", *limit) : kAbsent);
}

}  // namespace

std::string HostTable(const StepSummary& s) {
  std::vector<std::vector<std::string>> rows = {
      {"  its machine", "cores", "other thread%", "throttled%", "stolen%", "descriptors", "ports"}};
  for (const AgentEvidence& agent : s.agents) {
    const HostLoad& host = agent.host;
    if (!HasTally(s, agent) || host == HostLoad{}) continue;
    rows.push_back(
        {NameCell(agent), Of(host.cores_used_max, host.cores),
         host.thread_share_max ? fmt::format("{:.0f}", *host.thread_share_max * 100) : kAbsent,
         ShareOfTime(host.throttled_ns, s.plan), ShareOfTime(host.stolen_ns, s.plan),
         Of(host.descriptors_max, host.descriptors_limit), Of(host.ports_max, host.ports_limit)});
  }
  return rows.size() > 1 ? Table(rows, 1) : "";
}

std::string AgentTables(const StepSummary& s) {
  if (s.agents.empty()) return "";
  std::vector<std::vector<std::string>> rows = {
      {"  agent", "lanes", "attempts", "skew ms", "late P99 ms", "loop lag ms", "cpu%", ""}};
  for (const AgentEvidence& agent : s.agents) {
    // What an agent says of itself comes with the end of a step.
    const auto said = [&](std::string text) {
      return HasTally(s, agent) ? std::move(text) : std::string(kAbsent);
    };
    rows.push_back({NameCell(agent), fmt::format("{}", agent.lanes),
                    said(fmt::format("{}", agent.attempts)), said(Millis(agent.skew_ns)),
                    said(Millis(agent.lateness_p99_ns)), said(Millis(agent.loop_lag_max_ns)),
                    said(fmt::format("{:.0f}", agent.cpu_share_max * 100)), Remark(agent)});
  }
  return Table(rows, 1) + HostTable(s);
}

}  // namespace plimsoll
