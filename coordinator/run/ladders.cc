#include "coordinator/run/ladders.h"

#include <algorithm>

#include "common/base/limits.h"
#include "common/plan/lanes.h"

namespace plimsoll {

std::string LadderName(const RunSettings& settings, std::size_t ladder) {
  return ladder == 0 ? kMixLadder : settings.tier_ladders[ladder - 1].name;
}

const std::vector<std::uint32_t>& SessionsOf(const RunSettings& settings, std::size_t ladder) {
  return ladder == 0 ? settings.sessions : settings.tier_ladders[ladder - 1].sessions;
}

std::size_t StepsPlannedFrom(const RunSettings& settings, std::size_t ladder) {
  std::size_t steps = 0;
  for (; ladder <= settings.tier_ladders.size(); ++ladder) {
    steps += SessionsOf(settings, ladder).size();
  }
  return steps;
}

std::uint32_t SessionsMax(const RunSettings& settings) {
  std::uint32_t most = 0;
  for (std::size_t ladder = 0; ladder <= settings.tier_ladders.size(); ++ladder) {
    for (const std::uint32_t n : SessionsOf(settings, ladder)) most = std::max(most, n);
  }
  return most;
}

Duration LongestStep(const StepPlan& step, bool drains) {
  return (drains ? step.drain_limit : Duration{0}) + step.prime_limit + limits::kStartAhead +
         step.warm_up + step.measure + step.drain_limit;
}

SweepRules RulesOf(const RunSettings& settings, std::size_t ladder, Duration elapsed) {
  SweepRules rules{.planned = SessionsOf(settings, ladder),
                   .target = ladder == 0 ? settings.target : std::nullopt,
                   .first_is_todays_load = ladder == 0,
                   .extend = settings.extend,
                   // Of one tier alone only the bracket is reported.
                   .refine = settings.refine && ladder == 0};
  const bool drains = settings.drain_between_steps;
  rules.step_time = LongestStep(settings.step, drains || ladder > 0);
  rules.extension_time = limits::kStartAhead + settings.step.measure + settings.step.drain_limit;
  rules.refinement_time = LongestStep(settings.step, true);
  if (settings.budget) rules.left = *settings.budget - elapsed;
  rules.reserved = LongestStep(settings.step, true) *
                   static_cast<std::int64_t>(StepsPlannedFrom(settings, ladder + 1));
  return rules;
}

StepKind KindOf(SweepDecision::Kind kind) {
  switch (kind) {
    case SweepDecision::Kind::kExtend:
      return StepKind::kExtension;
    case SweepDecision::Kind::kRepeat:
      return StepKind::kRepeat;
    case SweepDecision::Kind::kRefine:
      return StepKind::kRefinement;
    case SweepDecision::Kind::kRun:
    case SweepDecision::Kind::kStop:
      break;
  }
  return StepKind::kPlanned;
}

std::vector<TierPlan> TiersOf(std::span<const TierPlan> tiers, const RunSettings& settings,
                              std::size_t ladder) {
  if (ladder == 0) return {tiers.begin(), tiers.end()};
  return TiersAlone(tiers, settings.tier_ladders[ladder - 1].tier);
}

std::vector<std::string> TiersLeftOut(std::span<const TierPlan> tiers, const RunSettings& settings,
                                      std::size_t ladder) {
  std::vector<std::string> names;
  for (const TierPlan& tier : TiersOf(tiers, settings, ladder)) {
    if (tier.share == 0) names.push_back(tier.name);
  }
  return names;
}

}  // namespace plimsoll
