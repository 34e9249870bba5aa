// One step for tests of ingest: two lanes of two tiers, 10 s of warm-up, 60 s measured in blocks of
// 20 s; records written as seconds from the step's start.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coordinator/ingest/step_ingest.h"

namespace plimsoll {

constexpr StepNanos Sec(double s) {
  return FromSeconds(s).count();
}

inline StepPlan IngestPlan() {
  return {.step = 3,
          .sessions = 2,
          .warm_up = 10s,
          .measure = 60s,
          .block = 20s,
          .drain_limit = 30s,
          .prime_limit = 10s};
}

// TTFT within 2 s and 10 tokens/s for nine in ten calls.
inline StepIngest MakeIngest() {
  const Bar bar{.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 2},
                           {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10},
                           {.metric = Metric::kErrors, .value = 0.02}}};
  return {IngestPlan(),
          {{.lane = 0, .tier = 0}, {.lane = 1, .tier = 1}},
          {"heavy", "light"},
          {4s, 2s},
          bar};
}

// An ok call of lane 0's play 0: first token after 1 s, 21 tokens in 21 chunks at 20 tokens/s.
inline CallRecord OkCall(double released, std::uint32_t call = 0) {
  CallRecord r;
  r.step = 3;
  r.call = call;
  r.first_released = r.released = Sec(released);
  r.sent = Sec(released + 0.25);
  r.first_token = r.first_chunk = Sec(released + 1);
  r.last_token = r.end = Sec(released + 2);
  r.chunks = r.tokens_out = 21;
  r.tokens_in = 500;
  r.tokens_cached = 400;
  r.outcome = Outcome::kOk;
  r.flags = kLastAttempt;
  return r;
}

// Ended after 1 s without a token.
inline CallRecord FailedCall(double released, Outcome outcome, bool last = true) {
  CallRecord r = OkCall(released);
  r.first_token = r.first_chunk = r.last_token = kAbsentNanos;
  r.chunks = 0;
  r.tokens_in = r.tokens_cached = r.tokens_out = kAbsentTokens;
  r.end = Sec(released + 1);
  r.outcome = outcome;
  r.flags = last ? kLastAttempt : 0;
  return r;
}

// The `attempt`-th attempt of `first`, sent at `released`.
inline CallRecord Again(const CallRecord& first, CallRecord record, std::uint8_t attempt) {
  record.first_released = first.first_released;
  record.attempt = attempt;
  return record;
}

// Both halves of a lane's block together; null: nothing is in them.
inline std::unique_ptr<CellCounts> CellOf(const StepEvidence& e, std::uint32_t lane,
                                          std::uint32_t block) {
  std::unique_ptr<CellCounts> whole;
  for (const CellCounts& cell : e.cells) {
    if (cell.lane != lane || cell.block != block) continue;
    if (whole == nullptr) {
      whole = std::make_unique<CellCounts>(cell);
      continue;
    }
    for (std::uint32_t CellCounts::*count :
         {&CellCounts::ttft_n, &CellCounts::rate_n, &CellCounts::rate_one_chunk,
          &CellCounts::end_to_end_n, &CellCounts::answer_n, &CellCounts::attempts,
          &CellCounts::failed, &CellCounts::unsent, &CellCounts::tool_answers,
          &CellCounts::tool_invalid}) {
      (*whole).*count += cell.*count;
    }
    for (std::size_t i = 0; i < cell.parts.size(); ++i) {
      whole->parts[i].n += cell.parts[i].n;
      whole->parts[i].hits += cell.parts[i].hits;
      whole->parts[i].hits_strict += cell.parts[i].hits_strict;
      whole->parts[i].hits_loose += cell.parts[i].hits_loose;
      for (std::size_t k = 0; k < whole->parts[i].hits_at.size(); ++k) {
        whole->parts[i].hits_at[k] += cell.parts[i].hits_at[k];
      }
    }
  }
  return whole;
}

}  // namespace plimsoll
