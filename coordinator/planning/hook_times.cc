#include "coordinator/planning/hook_times.h"

#include <algorithm>

#include "coordinator/hooks/hook_tries.h"

namespace plimsoll {
namespace {

// From a passed deadline until the last process is gone.
constexpr Duration kEndTime = 10s;

std::optional<Duration> TimeOf(const HookSpec& hook) {
  if (hook.empty()) return std::nullopt;
  return LongestTime(hook);
}

}  // namespace

Duration LongestTime(const HookSpec& hook) {
  const TryRules rules{.tries = std::max(1u, hook.tries)};
  Duration time = (hook.deadline + kEndTime) * rules.tries;
  Duration wait = rules.wait;
  for (std::uint32_t pause = 1; pause < rules.tries; ++pause, wait *= 2) {
    time += std::min(wait, rules.wait_max);
  }
  return time;
}

HookTimes TimesOf(const RunHooks& hooks, bool promote) {
  return {.rollout = TimeOf(hooks.rollout),
          .promote = promote ? TimeOf(hooks.promote) : std::nullopt,
          .rollback = TimeOf(hooks.rollback)};
}

}  // namespace plimsoll
