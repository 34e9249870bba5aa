// What this machine must have for a run: room in the store's folder, ports for local agents. The
// rules are pure; what the machine has is read at the edge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/judge/preflight_summary.h"
#include "coordinator/planning/dry_plan.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

struct LocalRoom {
  std::optional<std::uint64_t> free_bytes;  // Of the store's folder; absent: it does not say.
  std::optional<std::uint32_t> ports;       // Of this machine for one destination.
};

// Of the machine that this process runs on. `store` is a folder that is there.
LocalRoom ReadLocalRoom(const std::string& store);

// Disk, and where agents are started here, ports; each ok, a warning or blocking with what to do.
// Pure.
std::vector<Finding> LocalFindings(const Scenario& scenario, const DryPlan& dry,
                                   const std::string& store, const LocalRoom& room);

}  // namespace plimsoll
