// The files of a recipe, read when a run begins so that they are kept with it: effects at the edge
// of check and run.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "coordinator/scenario/scenario.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

// `folder` is the scenario's: relative paths are relative to it. Values that look like secrets are
// left out. InvalidArgument, a line for each file that cannot be read or kept, each with what to
// do.
StatusOr<KeptRecipe> ReadRecipe(const Recipe& recipe, const std::string& folder);

// A warning for each file of which values were left out.
std::vector<std::string> SecretsSaid(const KeptRecipe& recipe);

}  // namespace plimsoll
