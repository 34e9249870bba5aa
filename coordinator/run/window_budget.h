// What of a run's window is for measuring: what must still come after it is subtracted first. Pure.
#pragma once

#include <string>

#include "common/base/time.h"
#include "coordinator/hooks/hook_phase.h"
#include "coordinator/planning/run_settings.h"

namespace plimsoll {

// What agents have beyond the drain limit to end, and a hook beyond its own limit.
inline constexpr Duration kStopSlack = 15s;
inline constexpr Duration kHookSlack = 30s;

// The longest that a hook can take; zero where there is none.
Duration HookTime(const RunSettings& settings, HookPhase phase);

// The longest from the end of measuring to the end of the run: calls drain, the deployment is
// awaited where it was, promotion, and the rollback with all its tries.
Duration EndReserve(const RunSettings& settings);

// From the run's begin to the end of measuring. Only with a window; may be negative.
Duration MeasuringTime(const RunSettings& settings);

// The longest that a run with a single step can take, rollout and rollback included.
Duration LeastWindow(const RunSettings& settings);

// Why nothing should be begun: not even one step fits with its rollback. Empty: it does, or there
// is no window.
std::string WhyWindowIsTooShort(const RunSettings& settings);

}  // namespace plimsoll
