// The section `kill_switch:` of a scenario as values: what ends a run at once, whatever it
// measures. Every default of the section stands here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"

namespace plimsoll {

// What a rule looks at, on each page by itself.
enum class KillSignal : std::uint8_t {
  kWaiting,        // Requests in an engine's queue.
  kOpenRequests,   // That callers wait for, as a gateway sees it.
  kCancellations,  // Calls a second whose caller went away.
  kErrors,         // Share of the answers that are errors.
  kKvFill,         // Share of the cache that is held.
};
inline constexpr std::size_t kKillSignals = 5;

// As the keys are written, by KillSignal.
inline constexpr std::string_view kKillSignalKeys[kKillSignals] = {
    "waiting", "open_requests", "cancellations", "errors", "kv_fill"};

struct KillRule {
  bool production = false;  // Else: the candidate's pages.
  KillSignal signal = KillSignal::kWaiting;
  // Both must be exceeded where both are set; at least one is. Requests, a second, or a share.
  std::optional<double> over;
  std::optional<double> over_before;  // Times the level before the run.
  // Gauges: every page of that long must show it. Rates and shares: of that long.
  Duration time = 10s;
  std::uint32_t least = 20;  // Of kErrors: answers in that time, so that 1 of 2 does not trip.
  friend bool operator==(const KillRule&, const KillRule&) = default;
};

// What counts as a queue at all where a rule is only relative: three times nothing is nothing.
constexpr double KillFloor(KillSignal signal) {
  switch (signal) {
    case KillSignal::kWaiting:
    case KillSignal::kOpenRequests:
      return 10;
    case KillSignal::kCancellations:
      return 1;
    case KillSignal::kErrors:
      return 0.02;
    case KillSignal::kKvFill:
      return 0.5;
  }
  return 0;
}
constexpr Duration KillTime(KillSignal signal) {
  return signal == KillSignal::kKvFill ? Duration(30s) : Duration(10s);
}

struct KillSwitchSpec {
  std::vector<KillRule> rules;  // The candidate's, then production's.
  // A page that a rule wants and that cannot be read for so long trips too. Absent: never.
  std::optional<Duration> unread;
  std::string file;  // Trips when it exists. As to be opened; empty: none.
  friend bool operator==(const KillSwitchSpec&, const KillSwitchSpec&) = default;
};

}  // namespace plimsoll
