// A step's evidence for tests: healthy unless a test breaks something.
#pragma once

#include <cstdint>

#include "coordinator/judge/bar.h"
#include "coordinator/judge/evidence.h"

namespace plimsoll::testing {

inline Bar DefaultBar() {
  return {.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 5.3},
                     {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10},
                     {.metric = Metric::kErrors, .value = 0.02}}};
}

// Counts against a limit that is a number.
inline PartCounts Counted(std::uint32_t n, std::uint32_t hits) {
  return {.n = n, .hits = hits, .hits_strict = hits, .hits_loose = hits};
}

// Counts a call's value at the limit's further thresholds.
inline void CountLadder(double value, const Limit& limit, PartCounts* part) {
  const bool at_most = limit.metric == Metric::kTtft || limit.metric == Metric::kGoodput;
  for (std::size_t k = 0; k < part->hits_at.size(); ++k) {
    const double edge = limit.value * kThresholdFactors[k < kAtLimit ? k : k + 1];
    part->hits_at[k] += (at_most ? value <= edge : value >= edge) ? 1 : 0;
  }
}

// 10 lanes, 5 blocks of 60 s, 12 calls a cell; TTFT spread over 2.0 … 4.3 s, interactivity
// 14 … 60 tok/s, all within the default bar, no failures, one agent.
// Whole answers take four times their TTFT. Counted against the default bar.
inline StepEvidence Healthy() {
  const Bar bar = DefaultBar();
  StepEvidence e;
  e.plan = {.step = 0,
            .sessions = 10,
            .warm_up = 120s,
            .measure = 300s,
            .block = 60s,
            .drain_limit = 120s,
            .prime_limit = 30s};
  e.tier_names = {"heavy", "light"};
  e.planned_lane_ns = 10 * e.plan.measure.count();
  e.lane_state_ns[static_cast<std::size_t>(LaneState::kInFlight)] = e.planned_lane_ns / 100 * 97;
  e.lane_state_ns[static_cast<std::size_t>(LaneState::kPlannedDelay)] = e.planned_lane_ns / 100 * 3;
  for (std::uint32_t lane = 0; lane < 10; ++lane) {
    for (std::uint32_t block = 0; block < 5; ++block) {
      CellCounts cell{.lane = lane, .block = block, .tier = static_cast<std::uint8_t>(lane % 2)};
      cell.ttft_n = cell.end_to_end_n = cell.answer_n = cell.attempts = 12;
      cell.rate_n = 11;
      cell.rate_one_chunk = 1;
      cell.parts = {Counted(12, 12), Counted(11, 11), {}};
      for (std::int64_t i = 0; i < 12; ++i) {
        const std::int64_t ttft = 2'000'000'000 + i * 200'000'000 + block * 20'000'000;
        e.ttft_ns.Record(ttft);
        e.ttft_sent_ns.Record(ttft - 1'000'000);
        e.answer_ns.Record(4 * ttft);
        CountLadder(static_cast<double>(ttft) * 1e-9, bar.limits[0], &cell.parts[0]);
        if (i == 0) continue;
        e.rate_mtok_s.Record(10'000 + i * 4'000);
        e.end_to_end_rate_mtok_s.Record(8'000 + i * 2'000);
        CountLadder(10.0 + 4.0 * static_cast<double>(i), bar.limits[1], &cell.parts[1]);
      }
      e.cells.push_back(cell);
    }
  }
  e.outcomes[static_cast<std::size_t>(Outcome::kOk)] = 600;
  e.agents = {{.slot = 0,
               .name = "agent-0",
               .lanes = 10,
               .attempts = 600,
               .skew_ns = 1'200'000,
               .lateness_p99_ns = 900'000,
               .lateness_max_ns = 4'000'000,
               .loop_lag_max_ns = 3'000'000,
               .cpu_share_max = 0.21,
               .host = {.cores_used_max = 0.34,
                        .cores = 2.0,
                        .thread_share_max = 0.08,
                        .stolen_ns = 0,
                        .descriptors_max = 41,
                        .descriptors_limit = 65'536,
                        .ports_max = 37,
                        .ports_limit = 28'232}}};
  e.identities = {{.name = "attempts = outcomes", .left = 600, .right = 600}};
  e.tokens_in = 9'000'000;
  e.tokens_cached = 8'100'000;
  e.tokens_out = 240'000;
  e.requests_in_flight_mean = 9.7;
  FidelityEvidence& f = e.fidelity;
  f.output_n = f.prompt_n = f.cached_n = f.tokens_out_n = 600;
  f.tokens_asked = 240'000;
  f.tokens_came = 239'400;
  f.tokens_expected = 9'000'000;
  f.tokens_reported = 9'004'500;
  for (int i = 0; i < 600; ++i) {
    f.output_ratio_ppm.Record(i < 10 ? 800'000 : 1'000'000);
    f.drift_ppm.Record(i * 20);
  }
  return e;
}

}  // namespace plimsoll::testing
