// What RunDriver finds of the fleet before the first step: preflight's last findings.
#include <algorithm>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/fleet/agent_room.h"
#include "coordinator/run/run_driver.h"

namespace plimsoll {
namespace {

// Half of the quickest round trip. Starts differ by so much, and what is compared between agents.
constexpr Duration kClockDoubt = 5ms;

double Ms(Duration time) {
  return ToSeconds(time) * 1e3;
}

}  // namespace

// Every agent has room for what is expected, or the run had ended.
void RunDriver::FindFleet() {
  if (!deps_.found) return;
  std::string tight;
  std::uint32_t lanes = 0;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    for (const LaneNeeds& needs : NeedsOf(slot)) {
      lanes = std::max(lanes, needs.expected.lanes);
      if (tight.empty()) tight = WhyItHasNoRoom(fleet_.hello(slot), needs.most);
    }
  }
  const std::string here = fmt::format("agents: {} {} here, up to {} lanes each", slots_.size(),
                                       slots_.size() == 1 ? "is" : "are", lanes);
  if (tight.empty()) {
    return deps_.found({FindingLevel::kOk, here + ", with room for all of them at their busiest"});
  }
  deps_.found({FindingLevel::kWarning,
               fmt::format("{}, with room for what is expected and not for every lane at its "
                           "busiest at once: {}",
                           here, tight)});
}

// Of the first common start.
void RunDriver::FindClocks() {
  if (!deps_.found || clocks_found_) return;
  clocks_found_ = true;
  Duration worst{};
  std::uint32_t of = 0;
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
    if (slots_[slot].clock_uncertainty <= worst) continue;
    worst = slots_[slot].clock_uncertainty;
    of = slot;
  }
  if (worst <= kClockDoubt) {
    return deps_.found({FindingLevel::kOk,
                        fmt::format("clocks: agents' clocks are known to {:.2f} ms", Ms(worst))});
  }
  deps_.found(
      {FindingLevel::kWarning,
       fmt::format("clocks: that of agent {} ({}) is known to {:.1f} ms only, so starts may "
                   "differ by that; use a network with shorter round trips between it and "
                   "the coordinator",
                   of, Printable(fleet_.hello(of).name), Ms(worst))});
}

}  // namespace plimsoll
