// What is kept and shown of a judged step: plain values in the units people read, made from the
// evidence once, so that the store and the reports say the same.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/plan/plan.h"
#include "common/record/outcome.h"
#include "common/record/tally.h"
#include "coordinator/judge/evidence.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// A percentile as shown: a number, "infinite" (it fell among failed calls), or nothing.
struct ShownPercentile {
  std::optional<double> value;
  bool infinite = false;
  friend bool operator==(const ShownPercentile&, const ShownPercentile&) = default;
};

struct TtftSummary {
  std::uint64_t n = 0;    // Calls: with a first token, or failed without one (infinite).
  ShownPercentile p50_s;  // Seconds from the first release.
  ShownPercentile p90_s;
  ShownPercentile p90_ok_s;    // Without the infinite ones.
  ShownPercentile p90_sent_s;  // Seconds from `sent`, calls with a first token only.
  ShownPercentile p95_s;       // As p90_s; nothing below the calls that carry it (72 and 368).
  ShownPercentile p99_s;
};

struct RateSummary {
  std::uint64_t n = 0;          // Calls: with an interactivity, or failed without one (0).
  std::uint64_t one_chunk = 0;  // Answered in one chunk: no interactivity.
  // Tokens/s per user that 50% and 90% of the calls reach or beat.
  std::optional<double> reached_by_50_tok_s;
  std::optional<double> reached_by_90_tok_s;
  std::optional<double> reached_by_90_ok_tok_s;          // Without the zeros.
  std::optional<double> end_to_end_reached_by_90_tok_s;  // tokens_out / (last_token − released).
  // As reached_by_90_tok_s; nothing below the calls that carry them.
  std::optional<double> reached_by_95_tok_s;
  std::optional<double> reached_by_99_tok_s;
};

struct ErrorSummary {
  std::uint64_t attempts = 0;  // Released in the measured time, client errors included.
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::uint64_t client_errors = 0;
  std::uint64_t unsent = 0;
  std::optional<double> error_share;  // (failed + unsent) / (attempts + unsent), 0…1.
  OutcomeCounts outcomes{};
};

struct StepSummary {
  StepPlan plan;
  StepVerdict verdict;
  double requests_in_flight_mean = 0;
  TtftSummary ttft;
  RateSummary rate;
  ErrorSummary errors;
  // Share of the planned lane-time in each state, 0…1.
  std::array<double, kLaneStates> lane_state_share{};
  double calls_ok_per_s = 0;
  std::uint64_t tokens_in = 0;  // As usage says, of calls that reported it.
  std::uint64_t tokens_cached = 0;
  std::uint64_t tokens_out = 0;
  std::uint64_t usage_missing = 0;  // ok calls without usage.
  std::vector<AgentEvidence> agents;
  std::vector<Identity> identities;
  ReplaySummary replay;
  // The step was stopped after so much of its measured time, and never judged: what agents only say
  // at its end (lane states, requests in flight, unsent calls, of themselves) is missing.
  std::optional<Duration> broken_off_after;
};

// Pure; never fails: what the evidence does not hold is absent in the summary.
StepSummary Summarize(const StepEvidence& evidence, const StepVerdict& verdict);

// Of a step that was stopped after `measured` of its measured time: its numbers so far, no verdict.
StepSummary SummarizeBrokenOff(const StepEvidence& evidence, const Bar& bar, Duration measured);

}  // namespace plimsoll
