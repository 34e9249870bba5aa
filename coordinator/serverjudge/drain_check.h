// A run is not over until the engine is back where it started (design section 6): what runs, waits
// and is open at the level it had before the run, and no counter moving, over two reads. Pure.
//
// - What was there before, with the most that each gauge showed then, is the level. Where that is
//   not 0 somebody else loads the same servers: the gateway's open requests then have a tolerance,
//   and counters that moved before the run may go on moving.
// - Two reads: the last page of a target, and the last one at least `apart` before it, both since
//   the load ended; these and those between at the level, and no counter moved between them. A page
//   that cannot be read confirms nothing.
// - A gauge is what a server last wrote. One above its level while no counter moves is frozen, or
//   stands for work that does not go on; nobody can tell without another request, and it is not
//   back.
// - More in the engines than callers have open is orphaned work.
#pragma once

#include <vector>

#include "coordinator/judge/server_summary.h"
#include "coordinator/signals/step_readings.h"

namespace plimsoll {

struct DrainRule {
  // Of a shared gateway's open requests above their level before the run.
  double shared_share = 0.1;
  double shared_count = 1;
  Duration apart = 800ms;  // So that a gauge can have been written again.
};

// `before` are the pages from before the first step, `since` those since the load ended, at
// `ended`; production's targets are not looked at. `took` of the summary is now − ended.
DrainSummary CheckDrain(const SignalHistory& before, const SignalHistory& since, MonoTime ended,
                        MonoTime now, const DrainRule& rule = {});

}  // namespace plimsoll
