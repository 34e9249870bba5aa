// The header of a run that is about to begin.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/clock.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {

// With an id that `repo` does not have yet; another nonce for each, unless one is given.
RunInfo NewRun(const LoadedScenario& loaded, std::optional<std::uint64_t> nonce, const Clock& clock,
               const RunRepo& repo);

}  // namespace plimsoll
