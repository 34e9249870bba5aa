// What a step leaves behind, as values: the only input of the judge. Made by coordinator/ingest.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/plan.h"
#include "common/record/host_load.h"
#include "common/record/outcome.h"
#include "common/record/tally.h"
#include "common/record/tool_fault.h"
#include "common/stats/histogram.h"
#include "coordinator/judge/replay_summary.h"
#include "coordinator/judge/suspicion_counts.h"
#include "coordinator/judge/usage_doubts.h"

namespace plimsoll {

// A limit is counted at itself and at a ladder of multiples of it, so that the spread of the calls
// is known near their percentile however far from it the limit lies (value_interval.h). Ascending;
// stored by place: never change.
inline constexpr std::array<double, 9> kThresholdFactors = {1.0 / 64, 1.0 / 16, 1.0 / 4, 1.0 / 2, 1,
                                                            2,        4,        16,      64};
inline constexpr std::size_t kThresholds = kThresholdFactors.size();
inline constexpr std::size_t kAtLimit = 4;  // Place of the limit itself.

// Counts of one lane and half-block against one limit of the bar. Of a limit that is a number, the
// three counts of hits are the same; of one with an interval of its own they are at its value, at
// the end that is harder to keep, and at the one that is easier. Errors and tool calls are not
// counted here but in CellCounts, whatever the bar says.
struct PartCounts {
  std::uint32_t n = 0;            // Calls of the limit's tier with an observation.
  std::uint32_t hits = 0;         // Of them within the limit.
  std::uint32_t hits_strict = 0;  // At most hits.
  std::uint32_t hits_loose = 0;   // At least hits, at most n.
  // Within each of the thresholds but the limit itself. Of a cell that an earlier version stored
  // all are 0.
  std::array<std::uint32_t, kThresholds - 1> hits_at{};

  // Within kThresholdFactors[threshold] times the limit.
  std::uint32_t HitsAt(std::size_t threshold) const {
    return threshold == kAtLimit ? hits : hits_at[threshold < kAtLimit ? threshold : threshold - 1];
  }
  friend bool operator==(const PartCounts&, const PartCounts&) = default;
};

// Counts of one lane in one half of a block. A call is an observation of the block of its first
// release; an attempt is counted in the block of its own release. Halves are told apart because
// calls that wait in one queue resemble each other for less than a block (proportion.h).
struct CellCounts {
  std::uint32_t lane = 0;
  std::uint32_t block = 0;
  std::uint8_t half = 0;  // 0: released in the block's first half; 1: in its second.
  std::uint8_t tier = 0;
  std::uint32_t ttft_n = 0;          // Calls: with a first token, or failed (+infinity).
  std::uint32_t rate_n = 0;          // Calls with an interactivity, or failed without one (0).
  std::uint32_t rate_one_chunk = 0;  // Answered in one chunk: no interactivity.
  std::uint32_t end_to_end_n = 0;    // Calls with an end-to-end interactivity, or failed (0).
  std::uint32_t answer_n = 0;        // Calls: with a whole usable answer, or failed (+infinity).
  std::uint32_t attempts = 0;        // Released attempts, client errors included.
  std::uint32_t failed = 0;          // Of them failures.
  std::uint32_t unsent = 0;          // Calls of failed plays never sent (design section 2).
  std::uint32_t tool_answers = 0;    // ok answers whose tool calls were judged …
  std::uint32_t tool_invalid = 0;    // … and of them the malformed ones.
  std::vector<PartCounts> parts;     // By the bar's limits.
  friend bool operator==(const CellCounts&, const CellCounts&) = default;
};

// One check of an identity of design section 2.
struct Identity {
  std::string name;  // "attempts = outcomes"
  std::int64_t left = 0;
  std::int64_t right = 0;
  std::int64_t tolerance = 0;
  bool holds() const { return left - right <= tolerance && right - left <= tolerance; }
};

// Sums over agents of what they said of themselves.
struct AgentEvidence {
  std::uint32_t slot = 0;
  std::string name;
  std::uint32_t lanes = 0;
  std::uint64_t attempts = 0;
  std::int64_t skew_ns = 0;  // Start error plus the clock offset's uncertainty.
  std::int64_t lateness_p99_ns = 0;
  std::int64_t lateness_max_ns = 0;
  std::int64_t loop_lag_max_ns = 0;
  std::int64_t loop_stalled_ns = 0;
  double cpu_share_max = 0;
  std::uint64_t records_lost = 0;
  bool lost = false;  // Gone, or silent for too long, within the step.
  // It has not told of the step: attempts and all that follows are unknown.
  bool no_tally = false;
  // How far its wall clock moved against its monotonic clock within the measured time.
  std::int64_t wall_moved_ns = 0;
  HostLoad host;  // What its process and its machine did.
};

// By how much usage may differ from the planned prompt length before it is said (design section 4).
inline constexpr double kDriftShareMax = 0.02;

// How true the replay was to its plan, as the server's usage says: of attempts released in the
// measured time.
struct FidelityEvidence {
  // ok calls with usage for which a length was asked.
  std::uint64_t output_n = 0;
  std::uint64_t tokens_asked = 0;
  std::uint64_t tokens_came = 0;
  Histogram output_ratio_ppm;  // Came ÷ asked, in millionths.
  // Calls whose usage says the prompt's length.
  std::uint64_t prompt_n = 0;
  std::uint64_t cached_n = 0;      // Of them those that say how much came from a cache.
  std::uint64_t tokens_out_n = 0;  // Calls whose usage says the generated tokens.
  double tokens_expected = 0;      // By the plan and the template's fit.
  std::uint64_t tokens_reported = 0;
  Histogram drift_ppm;           // |reported − expected| ÷ expected, in millionths.
  std::uint64_t drift_over = 0;  // Calls over kDriftShareMax.
  // ok answers.
  std::uint64_t tool_present = 0;
  std::uint64_t tool_valid = 0;
  std::uint64_t tool_invalid = 0;  // What is neither was cut by its cap.
  FaultyAnswers tool_faults;       // Of tool_invalid, by what is wrong.
  std::uint64_t reasoning_only = 0;
  std::uint64_t hidden_reasoning = 0;
  UsageDoubts doubts;

  // Adds the calls of `other`.
  void Merge(const FidelityEvidence& other);
};

// What calls of the measured time came to, of a whole step or of one of its tiers.
struct CallEvidence {
  OutcomeCounts outcomes{};              // Of attempts released in the measured time.
  std::uint64_t usage_missing = 0;       // ok calls without usage, and
  std::uint64_t usage_contradicted = 0;  // with output that contradicts the stream.
  // Distributions, for the values that are shown; verdicts use the counts of cells.
  Histogram ttft_ns;                 // Calls with a first token, from first release.
  Histogram rate_mtok_s;             // Interactivity in thousandths of tokens/s, calls with one.
  Histogram end_to_end_rate_mtok_s;  // tokens_out / (last_token − first release), the same unit.
  Histogram answer_ns;               // ok calls, from first release to their end.
  // Failed calls without a value of each: infinite times and rates of 0.
  std::uint64_t ttft_infinite = 0;
  std::uint64_t rate_zero = 0;
  std::uint64_t end_to_end_zero = 0;
  std::uint64_t answer_infinite = 0;

  // Adds the calls of `other`.
  void Merge(const CallEvidence& other);
};

// A step: in its base, what all of its calls came to.
struct StepEvidence : CallEvidence {
  StepPlan plan;
  std::vector<std::string> tier_names;  // Indexed by CellCounts::tier.
  std::vector<CellCounts> cells;        // By lane, then block; only cells with something in them.
  std::vector<CallEvidence> tiers;      // As tier_names.
  // Of which the step's ladder plays no session, by its plan: limits on them are not judged.
  std::vector<std::string> tiers_left_out;
  std::array<std::int64_t, kLaneStates> lane_state_ns{};  // Over all lanes.
  std::int64_t planned_lane_ns = 0;                       // sessions x measured time.
  ReplaySummary replay;                                   // Its tiers as tier_names.
  std::vector<AgentEvidence> agents;
  std::vector<Identity> identities;
  Histogram ttft_sent_ns;  // Calls with a first token, from `sent`.
  // As usage says, of calls that reported it. Absent: none did.
  std::optional<std::uint64_t> tokens_in;
  std::optional<std::uint64_t> tokens_cached;
  std::optional<std::uint64_t> tokens_out;
  double requests_in_flight_mean = 0;  // Over the measured time.
  FidelityEvidence fidelity;
  SuspicionCounts suspicion;
};

}  // namespace plimsoll
