// How long the hooks of a scenario can take. Pure.
#pragma once

#include "coordinator/hooks/hook_runner.h"
#include "coordinator/planning/run_settings.h"

namespace plimsoll {

// With every try, the pauses between them, and what it takes to end one that outlives its deadline.
Duration LongestTime(const HookSpec& hook);

// `promote`: a promotion is asked for. Hooks that are empty have no time.
HookTimes TimesOf(const RunHooks& hooks, bool promote);

}  // namespace plimsoll
