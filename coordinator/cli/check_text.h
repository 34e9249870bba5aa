// What `plimsoll check` prints: the dry plan for people. Pure.
#pragma once

#include <string>

#include "coordinator/planning/dry_plan.h"

namespace plimsoll {

// At most 100 columns; ends with a newline.
std::string CheckText(const Scenario& scenario, const RunPlan& plan, const Corpus& corpus,
                      const DryPlan& dry);

}  // namespace plimsoll
