// Any figure that looks interesting is usually wrong (design section 3): a list of checks that
// every step runs. What trips is printed beside the verdict, with what to look at; it decides
// nothing. docs/statistics.md has the thresholds and their reasons. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/judge/evidence.h"
#include "coordinator/judge/proportion.h"

namespace plimsoll {

// Stored: never renumber, only append.
enum class SuspicionCheck : std::uint8_t {
  kCountsDisagree = 1,      // What we counted, and what the server did.
  kRefusalsUncounted = 2,   // Signs of a refusal on attempts that are booked as something else.
  kWarmUpAteStep = 3,       // The step was not steady from its beginning.
  kPromptsUnlike = 4,       // Prompts not as long as recorded.
  kCacheUnlikeTrace = 5,    // Cache hits far from what the trace predicts.
  kChunksUnlikeTokens = 6,  // One chunk is not one token.
  kClocksStepped = 7,       // Wall clock against monotonic clock.
  kCallsAlike = 8,          // Times or speeds with next to no spread.
  kErrorsFell = 9,          // Errors fall while the load rises.
  kMeanDownTailUp = 10,     // The mean falls while the tail grows.
  kAgentHeldBack = 11,      // An agent's quota or hypervisor kept it off its processors.
};
inline constexpr int kSuspicionChecks = 11;

// "counts_disagree", …: as JSON and the API say it.
std::string_view Name(SuspicionCheck check);

struct Suspicion {
  SuspicionCheck check = SuspicionCheck::kCountsDisagree;
  std::string text;  // What was seen and what to look at; one line for people.
  friend bool operator==(const Suspicion&, const Suspicion&) = default;
};

// The thresholds; each says why it is where it is.
namespace suspicion {
// Client and server count the same calls at two places: what differs by more than the calls that
// straddle the ends of the measured time, and 2%, is counted wrong. (Usage that is missing or
// contradicts the stream has the judge's own bound, void_rules::kUsageMissingShareMax.)
inline constexpr double kCountsApartMax = 0.02;
// A lane's opening releases one call at once, and the warm-up holds no more than that of a burst:
// in a steady step both times release calls at one rate. Half of it is far beyond chance at 20.
inline constexpr double kMeasuredRateMin = 0.5;
inline constexpr std::uint64_t kWarmUpAttemptsMin = 20;
// Medians of blocks of 20 calls wander by a third (sessions differ, the engine drifts); one beyond
// every other block by half as much again is another regime.
inline constexpr double kFirstBlockApart = 1.5;
inline constexpr std::uint64_t kBlockCallsMin = 20;
inline constexpr std::size_t kOtherBlocksMin = 2;
// Calls over kDriftShareMax: one in a hundred may be a quirk of a template; more are another load.
inline constexpr double kDriftCallsShareMax = 0.01;
// Share of prompt tokens cached, seen against predicted. Templates, tails of blocks and calls that
// overlap account for a few points (and for one block a call, which is allowed beside it).
inline constexpr double kCacheShareApart = 0.1;
inline constexpr std::uint64_t kCacheCallsMin = 20;
// A time service slews a clock by at most 500 parts in a million; what moved further, and by more
// than the skew that voids a step, was set, or the machine stood still.
inline constexpr double kSlewMax = 500e-6;
inline constexpr Duration kWallMovedMax = 100ms;
// Sessions differ in length tenfold and engines batch: P90 and P50 within 2% over 50 calls is a
// constant (a replayed answer, a limiter, a gateway's canned reply), not a model.
inline constexpr double kAlikeRatioMax = 1.02;
inline constexpr std::uint64_t kAlikeCallsMin = 50;
// Between two steps: both beyond what two such steps differ by of themselves, at as many calls as a
// P95 needs.
inline constexpr double kMeanFallMin = 0.1;
inline constexpr double kTailRiseMin = 0.1;
inline constexpr std::uint64_t kNeighbourCallsMin = 72;
// Of the measured time: as much as stalls of 20 ms and more may take up before they void the step.
// What held an agent back for shorter is in its stamps all the same, by less than that each.
inline constexpr double kHeldBackShareMax = 0.02;
}  // namespace suspicion

// What a step's neighbours in the sweep are compared by.
struct StepFigures {
  std::uint32_t sessions = 0;
  bool comparable = false;  // Whole, and not void.
  std::uint64_t ttft_n = 0;
  double ttft_mean_s = 0;  // Of calls with a first token.
  Percentile ttft_p90_ns{};
  ShareInterval errors{};
  bool errors_known = false;
};
StepFigures FiguresOf(const StepEvidence& evidence, bool is_void);

// What the server's own counters say of a step's measured time. Absent: it does not count that.
struct ServerCounts {
  std::optional<std::uint64_t> requests{};  // Finished.
  std::optional<std::uint64_t> tokens_in{};
  std::optional<std::uint64_t> tokens_out{};
  std::optional<std::uint64_t> refused{};  // Turned away, as whoever stands in front counts it.
};

struct SuspicionContext {
  // The other steps of the same sweep (of one mix) so far, in the order in which they ran.
  std::vector<StepFigures> others{};
  std::optional<ServerCounts> server{};  // Absent: no server was asked.
};

// What trips, in the order of the checks; at most one suspicion for each thing seen. A check whose
// input is missing does not trip.
std::vector<Suspicion> SuspicionsOf(const StepEvidence& evidence, bool is_void,
                                    const SuspicionContext& context);

}  // namespace plimsoll
