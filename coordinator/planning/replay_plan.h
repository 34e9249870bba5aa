// What `check` says about the replay before a window is spent: the pauses that think time removes,
// and what each context policy would leave out. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/plan/plan.h"

namespace plimsoll {

// A line each, for the dry plan.
std::vector<std::string> ReplayLines(const RunPlan& plan, const Corpus& corpus);

}  // namespace plimsoll
