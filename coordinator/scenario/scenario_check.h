// Rules over several fields of a scenario, and over the form of texts that only other programs
// understand (URLs, header names).
#pragma once

#include "common/base/time.h"
#include "common/config/document.h"
#include "common/config/problems.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

// Of each phase of a step: what is longer is a slip of the unit, and sums stay far from overflow.
inline constexpr Duration kPhaseMax = 24h;

// `scenario.mix` has its shares in millionths. `document` gives the lines of the problems. A rule
// is skipped while a field that it reads has a problem already.
void CheckScenario(const Scenario& scenario, const ConfigNode& document, Problems& problems);

}  // namespace plimsoll
