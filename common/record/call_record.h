// The timing record of one released attempt (design section 2). Plain data of fixed size.
#pragma once

#include <cstdint>
#include <limits>

#include "common/record/outcome.h"
#include "common/record/tool_fault.h"

namespace plimsoll {

// Nanoseconds from the step's start (the instant at which its warm-up begins). Negative: before it.
using StepNanos = std::int64_t;
inline constexpr StepNanos kAbsentNanos = std::numeric_limits<StepNanos>::min();
inline constexpr std::uint32_t kAbsentTokens = std::numeric_limits<std::uint32_t>::max();
// Block of a call released outside the measured time.
inline constexpr std::uint32_t kWarmUpBlock = 0xFFFFFFFEu;
inline constexpr std::uint32_t kCoolDownBlock = 0xFFFFFFFFu;

enum RecordFlag : std::uint8_t {
  kNewConnection = 1,  // The call opened its connection.
  kCapReached = 2,     // finish_reason "length".
  kToolCallPresent = 4,
  kLastAttempt = 8,  // No further attempt of this call follows.
};

// What kind of answer it was. Tool calls are judged in ok answers only.
enum AnswerFlag : std::uint8_t {
  kToolCallsValid = 1,    // Each is well formed, and fits the tool where the request offered some.
  kToolCallsInvalid = 2,  // Malformed; neither: there were none, or the output cap cut them.
  kReasoningOnly = 4,     // Reasoning and nothing else.
  // Usage counts reasoning tokens of which none was streamed: the first token came late by them.
  kHiddenReasoning = 8,
  kRetryAfterSeen = 16,  // Its headers asked to come back later (Retry-After), whatever its status.
};

struct CallRecord {
  // Which call.
  std::uint32_t step = 0;  // Index of the step in the run, repeats counted apart.
  std::uint32_t lane = 0;
  std::uint32_t play = 0;              // The lane's play, from 0.
  std::uint32_t session = 0;           // Index into the corpus.
  std::uint32_t call = 0;              // Index into the session's calls.
  std::uint16_t stream = 0;            // Index into the session's streams.
  std::uint8_t attempt = 1;            // 1 for the first try.
  std::uint8_t tier = 0;               // Index into the plan's tiers.
  std::uint32_t block = kWarmUpBlock;  // By the instant of release.

  // When. `released` and `end` are always present; the others are kAbsentNanos if it never came to
  // it.
  StepNanos first_released = 0;  // Release of the call's first attempt: the origin of its TTFT.
  StepNanos released = 0;        // Release of this attempt.
  StepNanos connecting = kAbsentNanos;  // A socket was made; absent on a kept connection.
  StepNanos sent = kAbsentNanos;        // First byte handed over.
  StepNanos upload_done = kAbsentNanos;
  StepNanos headers = kAbsentNanos;
  StepNanos first_chunk = kAbsentNanos;  // First event of the stream, of any kind.
  StepNanos first_token =
      kAbsentNanos;  // First non-empty content, reasoning, refusal or tool-call delta.
  StepNanos last_token = kAbsentNanos;
  StepNanos end = 0;

  // How much, as the server's usage says. Absent is not zero.
  std::uint32_t tokens_in = kAbsentTokens;
  std::uint32_t tokens_cached = kAbsentTokens;
  std::uint32_t tokens_out = kAbsentTokens;
  std::uint32_t tokens_first_chunk = kAbsentTokens;
  std::uint32_t chunks = 0;          // Chunks that carried a token.
  std::uint32_t tokens_planned = 0;  // Recorded prompt length, to compare with tokens_in.
  std::uint32_t messages = 0;        // Of the prompt: each costs its share of the chat template.
  std::uint32_t tokens_asked = 0;    // Output length asked for; 0: it was left to the model.

  std::uint16_t http_status = 0;  // 0: no status line came.
  Outcome outcome = Outcome::kClientError;
  std::uint8_t flags = 0;    // RecordFlag bits.
  std::uint8_t resends = 0;  // Bodies sent again within this attempt.
  std::uint8_t answer = 0;   // AnswerFlag bits.
  // What is wrong with its tool calls: only with kToolCallsInvalid, of which an earlier version
  // wrote no kind.
  ToolFaultBits tool_faults = 0;

  friend bool operator==(const CallRecord&, const CallRecord&) = default;
};

// Derived numbers; each returns a negative value where the record has none.
// TTFT in nanoseconds: first_token − first_released.
constexpr StepNanos TtftNanos(const CallRecord& r) {
  return r.first_token == kAbsentNanos ? -1 : r.first_token - r.first_released;
}
// Usage counts no output though a token came, or more tokens in the first chunk than in the whole
// answer: it says nothing of how many came when.
constexpr bool OutputContradicted(const CallRecord& r) {
  if (r.tokens_out == kAbsentTokens) return false;
  return (r.tokens_out == 0 && r.chunks > 0) ||
         (r.tokens_first_chunk != kAbsentTokens && r.tokens_first_chunk > r.tokens_out);
}
// Tokens per second per user (design section 2), above zero. A call answered in one chunk has none,
// as its chunks say or as usage counts all its tokens in the first, and neither has one whose first
// and last token share a stamp, or whose usage is contradicted.
constexpr double Interactivity(const CallRecord& r) {
  if (r.first_token == kAbsentNanos || r.last_token <= r.first_token || r.chunks < 2 ||
      r.tokens_out == kAbsentTokens || OutputContradicted(r)) {
    return -1;
  }
  const double out = r.tokens_out;
  const double after_first = r.tokens_first_chunk != kAbsentTokens
                                 ? out - static_cast<double>(r.tokens_first_chunk)
                                 : out * (r.chunks - 1) / r.chunks;
  if (after_first <= 0) return -1;
  return after_first * 1e9 / static_cast<double>(r.last_token - r.first_token);
}

}  // namespace plimsoll
