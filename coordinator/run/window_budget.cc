#include "coordinator/run/window_budget.h"

#include <optional>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/run/ladders.h"

namespace plimsoll {
namespace {

// Agents come, take over plan and corpus, and are asked what they hold: as a rule seconds.
constexpr Duration kFleetTime = 30s;

}  // namespace

Duration HookTime(const RunSettings& settings, HookPhase phase) {
  const HookTimes& hooks = settings.hooks;
  const std::optional<Duration>& time = phase == HookPhase::kRollout   ? hooks.rollout
                                        : phase == HookPhase::kPromote ? hooks.promote
                                                                       : hooks.rollback;
  return time ? *time + kHookSlack : Duration{0};
}

Duration EndReserve(const RunSettings& settings) {
  return settings.step.drain_limit + kStopSlack + settings.back_limit.value_or(Duration{0}) +
         HookTime(settings, HookPhase::kPromote) + HookTime(settings, HookPhase::kRollBack);
}

Duration MeasuringTime(const RunSettings& settings) {
  return settings.window.value_or(Duration{0}) - EndReserve(settings);
}

Duration LeastWindow(const RunSettings& settings) {
  const Duration evals = settings.mini_run.askers > 0 ? settings.mini_run.limit : Duration{0};
  return HookTime(settings, HookPhase::kRollout) + kFleetTime + evals +
         LongestStep(settings.step, false) + EndReserve(settings);
}

std::string WhyWindowIsTooShort(const RunSettings& settings) {
  if (!settings.window || LeastWindow(settings) <= *settings.window) return {};
  return fmt::format(
      "the window of {} is too short: one step can take {}, and {} are reserved for its end ({} of "
      "them for the rollback{}); with rollout and fleet that is {}: a longer window, shorter steps "
      "or shorter deadlines of hooks",
      ShortTime(*settings.window), ShortTime(LongestStep(settings.step, false)),
      ShortTime(EndReserve(settings)), ShortTime(HookTime(settings, HookPhase::kRollBack)),
      settings.hooks.promote
          ? ", " + ShortTime(HookTime(settings, HookPhase::kPromote)) + " for a promotion"
          : "",
      ShortTime(LeastWindow(settings)));
}

}  // namespace plimsoll
