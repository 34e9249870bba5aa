// The times that `plimsoll peak` is told, as values. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"
#include "coordinator/planning/peak.h"

namespace plimsoll {

// "2026-11-30T14:00:00Z" (any RFC 3339 offset), "2026-11-30" (its first second, UTC), seconds since
// 1970. InvalidArgument for anything else.
StatusOr<WallTime> ParseInstant(std::string_view text);

// "7d", and what a scenario's durations may be: "36h", "90m". More than nothing, at most 366 days.
StatusOr<Duration> ParseLast(std::string_view text);

// From what was typed (empty: not) and the clock; both ends on whole seconds, the default the last
// 7 days. InvalidArgument: both --last and --from or --to, or an end in the future.
StatusOr<TimeRange> RangeOf(const std::string& from, const std::string& to, const std::string& last,
                            WallTime now);

// Between samples: "15s", 1s to 1h in whole milliseconds.
StatusOr<Duration> ParseStep(std::string_view text);

}  // namespace plimsoll
