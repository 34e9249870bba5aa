// The busiest minute of real traffic, from a gauge's samples, and how many sessions of a corpus
// keep as many requests in flight: what a target of so many sessions stands for. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"
#include "common/plan/plan.h"

namespace plimsoll {

// Samples of a range, one a step, of which Prometheus answers so many in one query at most.
inline constexpr std::uint64_t kPointsOfAQueryMax = 11'000;
// Queries that one look may take: 115 days at 15 s.
inline constexpr std::uint64_t kQueriesMax = 60;

struct TimeRange {
  WallTime from{};
  WallTime to{};  // The last sample is at or before it; not before `from`.
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

// The range in parts that one query can answer, on one grid: each begins a step after the one
// before it ends. InvalidArgument in a sentence: no time, a step of nothing, or more than
// kQueriesMax.
StatusOr<std::vector<TimeRange>> SplitRange(const TimeRange& range, Duration step);

// A gauge's value at an instant; NaN: there was none.
struct GaugePoint {
  WallTime at{};
  double value = 0;
};

// What the samples of a gauge hold. A sample stands for the step that begins with it; a minute is
// as many samples as cover it, without a hole among them.
struct GaugeSummary {
  struct Minute {
    WallTime from{};
    Duration length{};  // A minute, or the samples that cover one.
    double mean = 0;
  };
  std::optional<Minute> busiest;  // The first of equals. Absent: no minute is whole.
  std::uint64_t points = 0;       // Finite samples, none of them negative.
  std::uint64_t not_numbers = 0;  // NaN and infinities.
  std::uint64_t negative = 0;
  std::uint64_t missing = 0;  // Instants of the range without a sample.
  Duration longest_gap{};     // Without a usable sample.
  double mean = 0;            // Of the points; 0 without one.
};

// `points` ascending by instant, on the grid of `range` and `step`; what is not is left out.
GaugeSummary Summarize(const std::vector<GaugePoint>& points, const TimeRange& range,
                       Duration step);

// Requests that a session of a tier, and of the mix, keeps in flight on average over its replayed
// timeline: service times as recorded, pauses as the plan's think time leaves them.
struct MixInFlight {
  struct OfTier {
    std::string name;
    double share = 0;  // Of the mix, 0…1.
    double mean = 0;   // 0: the tier has no call.
  };
  std::vector<OfTier> tiers;
  double mean = 0;
};
MixInFlight InFlightOf(const RunPlan& plan, const Corpus& corpus);

// Sessions of the mix that keep `requests` in flight on average, rounded up; 0 where none keeps
// any.
std::uint64_t SessionsFor(double requests, const MixInFlight& mix);

}  // namespace plimsoll
