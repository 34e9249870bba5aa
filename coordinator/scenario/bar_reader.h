// The section `bar` of a scenario: limits on all calls, on a tier's, and relative to baseline runs.
#pragma once

#include <vector>

#include "common/config/field_reader.h"
#include "common/plan/plan.h"
#include "coordinator/judge/bar.h"

namespace plimsoll {

// `mix` holds the tiers that may have limits of their own. A relative limit ("+10%") has an origin
// without a baseline, and no value yet.
void ReadBar(FieldReader& top, const std::vector<TierPlan>& mix, Bar& bar);

}  // namespace plimsoll
