// How true a step's load was to the recorded sessions, by tier: what think time took off pauses,
// what the context limit left out, whose text the histories held. Kept and shown beside the
// verdict; it decides nothing.
#pragma once

#include <string>
#include <vector>

#include "common/plan/context_limit.h"
#include "common/plan/plan.h"
#include "common/record/tally.h"

namespace plimsoll {

struct TierReplay {
  std::string name;
  FidelityCounts fidelity;  // Of the measured time.
  ContextCounts context;    // Of all sessions that the tier could draw from.
  friend bool operator==(const TierReplay&, const TierReplay&) = default;
};

struct ReplaySummary {
  ThinkTime think_time = ThinkTime::kNone;
  Duration think_time_cap{};
  ContextLimit context_limit;
  History history = History::kRecorded;
  std::vector<TierReplay> tiers;  // In the mix's order.
  friend bool operator==(const ReplaySummary&, const ReplaySummary&) = default;
};

}  // namespace plimsoll
