// The scenario's sections `sweep` and `ladders`, and the names of tiers. Part of scenario_reader.
#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "common/config/field_reader.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

inline constexpr std::array<std::pair<std::string_view, Tier>, 3> kTierNames = {
    {{"light", Tier::kLight}, {"mid", Tier::kMid}, {"heavy", Tier::kHeavy}}};

void ReadSweep(FieldReader& top, Sweep& sweep);
// "mix", then the tiers that get a sweep of their own.
void ReadLadders(FieldReader& top, std::vector<TierPlan>& tier_ladders);

}  // namespace plimsoll
