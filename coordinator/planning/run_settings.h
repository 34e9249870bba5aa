// What the run machine is set to do, as values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/time.h"
#include "common/plan/plan.h"

namespace plimsoll {

struct RunSettings {
  std::vector<std::uint32_t> sessions;  // Planned steps, rising.
  std::optional<std::uint32_t> target;
  StepPlan step;  // Durations of every step.
  std::uint32_t agents = 1;
  bool local_agents = false;  // A lost one is started again; else one is awaited.
  Duration gather_limit = 60s;
  Duration replace_limit = 60s;
};

}  // namespace plimsoll
