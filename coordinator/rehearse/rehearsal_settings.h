// How a run differs from a real one because `plimsoll rehearse` started it: hidden options of
// `plimsoll run` (docs/rehearse.md). The defaults are a real run's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace plimsoll {

struct RehearsalSettings {
  std::uint32_t liveness_percent = 100;     // Of the usual times (common/plan/liveness.h).
  std::optional<std::int64_t> wall_from_s;  // The wall clock begins here: Unix seconds.
  Duration wall_step{};                     // It jumps by this …
  std::string wall_step_file;               // … once this file is there.
};

}  // namespace plimsoll
