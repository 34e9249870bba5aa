// The section `hooks` of a scenario. Part of scenario_reader.
#pragma once

#include <string_view>

#include "common/base/time.h"
#include "common/config/field_reader.h"
#include "coordinator/hooks/hook_runner.h"

namespace plimsoll {

// Hooks run in `folder`, the scenario's; programs whose name holds a slash are relative to it.
// Absent hooks are left as they are. `grace`: how long a dead coordinator's restart is awaited.
void ReadHooks(FieldReader& top, std::string_view folder, RunHooks& hooks, Duration& grace);

}  // namespace plimsoll
