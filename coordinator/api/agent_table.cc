#include "coordinator/api/agent_table.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/report/text_layout.h"

namespace plimsoll {

std::string AgentTable(const std::vector<LiveAgent>& agents) {
  if (agents.empty()) return "no agent has dialled in yet\n";
  std::vector<std::vector<std::string>> rows = {
      {"agent", "", "slot", "cores", "memory", "lanes", "in flight", "silent"}};
  for (const LiveAgent& agent : agents) {
    constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
    rows.push_back({Printable(agent.name), agent.alive ? "alive" : "lost",
                    fmt::format("{}", agent.slot), fmt::format("{}", agent.cores),
                    fmt::format("{:.1f} GiB", static_cast<double>(agent.memory_bytes) / kGib),
                    fmt::format("{}", agent.lanes), fmt::format("{}", agent.calls_in_flight),
                    fmt::format("{:.1f} s", ToSeconds(agent.silent_for))});
  }
  return Table(rows, 2);
}

}  // namespace plimsoll
