// What makes a step say nothing, whatever its parts show: the load was not the one planned, or what
// was measured is not all there (design section 3, "Void first").
#pragma once

#include <string>
#include <vector>

#include "common/base/limits.h"
#include "common/base/time.h"
#include "coordinator/judge/evidence.h"

namespace plimsoll {

// The bounds, in one place. At a bound the step still counts; past it it is void.
namespace void_rules {
inline constexpr Duration kSkewMax = limits::kSkewMax;
// Faults of our own, of the attempts.
inline constexpr double kClientErrorShareMax = 0.001;
// Below this our own idling changed the load by more than the bar's usual margins.
inline constexpr double kOfferedShareMin = 0.95;
// Below this the latencies belong to a lighter load; the errors part is judged.
inline constexpr double kSentShareMin = 0.95;
// Of the ok calls: without usage a call has no interactivity, and the slow ones might be those.
inline constexpr double kUsageMissingShareMax = 0.01;
// Lateness counts into TTFT in full (from the release): 1% of the 5 s that TTFT limits are about.
inline constexpr Duration kLatenessP99Max = 50ms;
// While a loop stands still it sends and stamps nothing. Stalls of 20 ms and more may take up 2% of
// the measured time: at P90 that leaves four fifths of the tail to the server. No single one may
// last longer than a second, whatever the step's length.
inline constexpr double kLoopStalledShareMax = 0.02;
inline constexpr Duration kLoopLagMax = 1s;
// Of one core, the busiest data loop in its worst second: past it queues build up in the agent.
// The same of its other threads (gRPC's), and of all cores that its process may use.
inline constexpr double kCpuShareMax = 0.9;
// Of the measured time, while a control group's quota or the hypervisor kept the agent off its
// processors. Whatever of it made a release late or lasted 20 ms is counted above, as that; alone
// it voids only where it is too much for the shorter waits to be harmless. With the usual period of
// 100 ms a quarter of the time is 25 ms at once, which is a stall already; of less the step says
// how much it was (suspicion::kHeldBackShareMax).
inline constexpr double kHeldBackShareMax = 0.25;
// Of the descriptors that may be open, and of the machine's ports: what is left is gone with the
// next burst of connections, and the plan was made for more room.
inline constexpr double kRoomShareMax = 0.95;
}  // namespace void_rules

// 1 − idle for our own reasons ÷ planned lane-time, in [0, 1]. Planned time that no lane accounts
// for (its agent is gone) is ours too. 0 if no lane-time was planned.
double OfferedShare(const StepEvidence& evidence);
// Lane-time with a call in flight or in a planned delay ÷ planned lane-time. 0 if none was planned.
double SentShare(const StepEvidence& evidence);

// Every reason that applies, in words, worst first; empty: the step counts.
std::vector<std::string> VoidReasons(const StepEvidence& evidence);

}  // namespace plimsoll
