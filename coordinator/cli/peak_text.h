// What `plimsoll peak` prints. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/plan/plan.h"
#include "coordinator/planning/peak.h"

namespace plimsoll {

struct PeakLook {
  std::string url;
  std::string query;
  TimeRange range;
  Duration step{};
  GaugeSummary gauge;
  // Of a scenario or a corpus. Absent: none was named.
  std::optional<MixInFlight> mix;
  ThinkTime think_time = ThinkTime::kNone;
  Duration think_time_cap{};
};

// At most 100 columns; ends with a newline.
std::string PeakText(const PeakLook& look);

// Why there is no busiest minute, in a sentence that says what to do.
std::string WhyNoPeak(const PeakLook& look);

// "2026-11-30 14:03:15 UTC".
std::string UtcText(WallTime at);

}  // namespace plimsoll
