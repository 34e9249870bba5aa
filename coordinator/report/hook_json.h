// A run's hooks as JSON text. Part of json_report.
#pragma once

#include <string>
#include <vector>

#include "coordinator/hooks/hook_outcome.h"

namespace plimsoll {

// A list of objects, in the order given.
std::string HooksJson(const std::vector<HookOutcome>& hooks);

}  // namespace plimsoll
