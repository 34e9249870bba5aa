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
#include "coordinator/judge/eval_summary.h"
#include "coordinator/judge/evidence.h"
#include "coordinator/judge/server_summary.h"
#include "coordinator/judge/step_origin.h"
#include "coordinator/judge/suspicion.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

struct TtftSummary {
  std::uint64_t n = 0;    // Calls: with a first token, or failed without one (infinite).
  ShownPercentile p50_s;  // Seconds from the first release.
  ShownPercentile p90_s;
  ShownPercentile p90_ok_s;    // Without the infinite ones.
  ShownPercentile p90_sent_s;  // Seconds from `sent`, calls with a first token only.
  ShownPercentile p95_s;       // As p90_s.
  ShownPercentile p99_s;
};

struct RateSummary {
  std::uint64_t n = 0;          // Calls: with an interactivity, or failed without one (0).
  std::uint64_t one_chunk = 0;  // Answered in one chunk: no interactivity.
  // Tokens/s per user that 50% and 90% of the calls reach or beat.
  std::optional<double> reached_by_50_tok_s;
  std::optional<double> reached_by_90_tok_s;
  std::optional<double> reached_by_90_ok_tok_s;  // Without the zeros.
  // tokens_out / (last_token − first release); failed calls without one count as 0.
  std::optional<double> end_to_end_reached_by_90_tok_s;
  std::optional<double> reached_by_95_tok_s;  // As reached_by_90_tok_s.
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

// How true the replay was (FidelityEvidence), as shown.
struct FidelitySummary {
  std::uint64_t output_n = 0;              // ok calls for which a length was asked.
  std::optional<double> output_ratio;      // Tokens that came ÷ asked, over all of them.
  std::optional<double> output_ratio_p50;  // The median call's.
  std::uint64_t prompt_n = 0;              // Calls whose usage says the prompt's length.
  std::uint64_t cached_n = 0;              // Of them with cached tokens.
  std::uint64_t tokens_out_n = 0;          // Calls whose usage says the generated tokens.
  std::optional<double> drift_p50;         // Share by which it differs from the plan.
  std::optional<double> drift_max;         // Of the worst call.
  std::optional<double> drift_total;   // Of all tokens, signed: positive is longer than planned.
  std::uint64_t drift_over = 0;        // Calls over kDriftShareMax.
  std::uint64_t tool_present = 0;      // ok answers with tool calls …
  std::uint64_t tool_valid = 0;        // … all well formed …
  std::uint64_t tool_invalid = 0;      // … malformed; the rest was cut by its cap.
  std::uint64_t reasoning_only = 0;    // ok answers of reasoning and nothing else.
  std::uint64_t hidden_reasoning = 0;  // Usage counts reasoning that was not streamed.
  UsageDoubts doubts;                  // Of ok calls.
  FaultyAnswers tool_faults;           // Of tool_invalid, by what is wrong.
  friend bool operator==(const FidelitySummary&, const FidelitySummary&) = default;
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
  std::optional<double> calls_ok_per_s;  // Absent: nothing was measured.
  // As usage says, of calls that reported it. Absent: none did.
  std::optional<std::uint64_t> tokens_in;
  std::optional<std::uint64_t> tokens_cached;
  std::optional<std::uint64_t> tokens_out;
  std::uint64_t usage_missing = 0;  // ok calls without usage.
  FidelitySummary fidelity;
  std::vector<AgentEvidence> agents;
  std::vector<Identity> identities;
  ReplaySummary replay;
  std::vector<Suspicion> suspicions;  // What looks wrong; set by whoever knows the other steps.
  // The step was stopped after so much of its measured time, and never judged: what agents only say
  // at its end (lane states, requests in flight, unsent calls, of themselves) is missing.
  std::optional<Duration> broken_off_after;
  StepOrigin origin;
  std::optional<EvalSummary> evals;     // Absent: none was asked. In none of the numbers above.
  std::optional<ServerSummary> server;  // Absent: no server was asked, or the step was broken off.
};

// Whether every agent has told of the step, at its end. Else lane-time (the offered and the sent
// share), requests in flight, unsent calls and what lanes counted of the replay are unknown, and
// whatever stands in their fields is no measurement.
bool HasTallies(const StepSummary& step);
// The same of what one agent says of itself.
bool HasTally(const StepSummary& step, const AgentEvidence& agent);

// Pure; never fails: what the evidence does not hold is absent in the summary.
StepSummary Summarize(const StepEvidence& evidence, const StepVerdict& verdict);

// Of a step that was stopped after `measured` of its measured time: its numbers so far, no verdict.
StepSummary SummarizeBrokenOff(const StepEvidence& evidence, const Bar& bar, Duration measured);

}  // namespace plimsoll
