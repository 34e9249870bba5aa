// Hooks and window of a scenario in words, for check.
#pragma once

#include <string>

#include "coordinator/scenario/scenario.h"

namespace plimsoll {

// Labelled lines; empty without hooks and without a window. A window that holds no step is said as
// what it is: the run would end with 4.
std::string HooksText(const Scenario& scenario);

}  // namespace plimsoll
