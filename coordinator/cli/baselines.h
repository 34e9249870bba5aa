// Baseline runs that a scenario's bar names, read from the store: the effect at the edge of
// coordinator/planning/baseline_bar.
#pragma once

#include <string>

#include "common/base/status.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {

// True if the bar has limits that wait for baseline runs.
bool NamesBaselines(const LoadedScenario& loaded);

// Gives them their values, and the scenario its doubts about them. Errors are InvalidArgument and
// say which run is missing or unfit, and what to do; what the store itself says keeps its code.
Status ReadBaselines(const RunRepo& repo, LoadedScenario* loaded);

// The same from the store in `folder`; does not open it if no baselines are named.
Status ReadBaselines(const std::string& folder, LoadedScenario* loaded);

}  // namespace plimsoll
