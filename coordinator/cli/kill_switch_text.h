// What `plimsoll check` prints of a scenario's `kill_switch`. Pure.
#pragma once

#include <string>

#include "coordinator/scenario/kill_switch_spec.h"

namespace plimsoll {

// The rules in words, a line each. At most 100 columns; ends with a newline.
std::string KillSwitchText(const KillSwitchSpec& spec);

}  // namespace plimsoll
