// The ladders of a run and what the sweep's policy may do in each. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coordinator/judge/sweep_policy.h"
#include "coordinator/planning/run_settings.h"

namespace plimsoll {

// "mix" for 0, else the name of tier_ladders[ladder - 1].
std::string LadderName(const RunSettings& settings, std::size_t ladder);
const std::vector<std::uint32_t>& SessionsOf(const RunSettings& settings, std::size_t ladder);
// Planned steps of all ladders from `ladder` on.
std::size_t StepsPlannedFrom(const RunSettings& settings, std::size_t ladder);
// The most sessions of any planned step.
std::uint32_t SessionsMax(const RunSettings& settings);

// The longest that a step can take from its preparation on; `drains`: lanes end before it.
Duration LongestStep(const StepPlan& step, bool drains);

// `elapsed` of the budget is spent. Ladders to come keep the time of their planned steps.
SweepRules RulesOf(const RunSettings& settings, std::size_t ladder, Duration elapsed);

StepKind KindOf(SweepDecision::Kind kind);

// The plan's tiers as the ladder shares lanes out: its tier alone, or the mix's shares as they are.
std::vector<TierPlan> TiersOf(std::span<const TierPlan> tiers, const RunSettings& settings,
                              std::size_t ladder);
// Names of those that the ladder plays no session of.
std::vector<std::string> TiersLeftOut(std::span<const TierPlan> tiers, const RunSettings& settings,
                                      std::size_t ladder);

}  // namespace plimsoll
