// Runs and steps as they are stored.
#pragma once

#include <string>

#include "coordinator/store/run_values.h"

namespace plimsoll::testing {

inline RunInfo ARun(std::string id, std::int64_t started_ns) {
  RunInfo run;
  run.id = std::move(id);
  run.name =
      "r\xe9"
      "cipe-7";  // Not UTF-8: kept as it came.
  run.scenario_text = std::string("name: x\n\0\xff", 10);
  run.scenario_digest = "aa11";
  run.seed = 0xffffffffffffffffu;
  run.nonce = 17;
  run.corpus_digest = "bb22";
  run.started = WallTime(Duration(started_ns));
  run.plimsoll_version = "0.1.0";
  return run;
}

inline PartVerdict APart() {
  PartVerdict part;
  part.limit = {Metric::kEndToEndInteractivity, 0.995, 10, "heavy",
                LimitOrigin{.runs = {"r-1", "r-2"},
                            .sessions = 15,
                            .factor = 0.8,
                            .baseline = 12.5,
                            .low = 9.5,
                            .high = 10.5}};
  part.verdict = Verdict::kTooClose;
  part.lean = Lean::kFail;
  part.reason = "the interval crosses the limit";
  part.n = 812;
  part.value = 9.75;
  part.value_ok_only = 10.25;
  part.value_low = {8.5, false};
  part.value_high = {std::nullopt, true};
  part.share_within = 0.885;
  part.share_low = 0.85;
  part.share_high = 0.91;
  part.margin = -0.025;
  return part;
}

inline EvalSummary SomeEvals() {
  return {.verdict = Verdict::kFail,
          .lean = Lean::kPass,
          .reason = "41 of 60 passed",
          .loaded = {{0, 41, 12, 1, 2, 3, 1, 9}},
          .unloaded = {{0, 70, 2, 0, 0, 0, 0, 1}},
          .design_effect = 1.25,
          .interval = {0.5, 0.75},
          .change = Interval{-0.5, -0.125},
          .faults = {{0, 8, 7, 6, 5, 4, 3, 2, 1}},
          .faults_unloaded = {{0, 0, 0, 1, 0, 0, 0, 0, 0}},
          .kinds = {{"sum", {{0, 20, 1, 0, 0, 0, 0, 3}}, {{0, 30, 1, 0, 0, 0, 0, 0}}},
                    {"tool\xff", {{0, 21, 11, 1, 2, 3, 1, 6}}, {}}}};
}

// Every field differs from its default, so that a forgotten one shows.
inline StepRow AStep(std::uint32_t step) {
  StepRow row;
  StepSummary& s = row.summary;
  s.plan = {step, 15, 120s, 300s, 60s, 110s, 50s};
  s.verdict.verdict = Verdict::kTooClose;
  s.verdict.is_void = true;
  s.verdict.reasons = {"a", "b"};
  s.verdict.parts = {APart()};
  s.verdict.offered_share = 0.99;
  s.verdict.sent_share = 0.98;
  s.requests_in_flight_mean = 12.5;
  s.ttft = {100,           {1.5, false}, {std::nullopt, true}, {2.5, false},
            {2.25, false}, {3.5, false}, {std::nullopt, true}};
  s.rate = {90, 4, 30.0, 11.0, 12.0, 8.0, 7.0, 6.0};
  s.broken_off_after = 133s;
  s.origin = {.kind = StepKind::kExtension,
              .ladder = "light",
              .reason = "too close",
              .failed_early_after = 3,
              .measured = 182s};
  s.errors = {200, 190, 9, 1, 3, 0.059, {}};
  s.errors.outcomes[1] = 190;
  s.errors.outcomes[12] = 1;
  s.lane_state_share = {0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01};
  s.calls_ok_per_s = 3.5;
  s.tokens_in = 1;
  s.tokens_cached = 2;
  s.tokens_out = 3;
  s.usage_missing = 4;
  s.fidelity = {.output_n = 5,
                .output_ratio = 0.75,
                .output_ratio_p50 = 0.5,
                .prompt_n = 6,
                .cached_n = 7,
                .tokens_out_n = 21,
                .drift_p50 = 0.01,
                .drift_max = 0.25,
                .drift_total = -0.125,
                .drift_over = 8,
                .tool_present = 12,
                .tool_valid = 9,
                .tool_invalid = 2,
                .reasoning_only = 10,
                .hidden_reasoning = 11,
                .doubts = {21, 22, 23, 24, 25, 26, 27, 28, 29},
                .tool_faults = {{0, 1, 2, 3, 4, 5, 6, 7, 8}}};
  s.verdict.failed_beside = "evals";
  s.evals = SomeEvals();
  s.agents = {{1, "b:77", 8, 100, -5, 6, 7, 8, 4, 0.5, 9, true, true, -12}};
  s.agents[0].host = {.cores_used_max = 1.5,
                      .thread_share_max = 0.0,
                      .throttled_ns = 7,
                      .stolen_ns = 0,
                      .descriptors_max = 50,
                      .descriptors_limit = 1024,
                      .ports_max = 60};
  s.identities = {{"attempts = outcomes", 200, 199, 0}};
  s.replay = {
      ThinkTime::kRecorded,
      60s,
      {128'000, OverLimit::kDropLongStarts},
      History::kLive,
      {{"heavy", {1, 9, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14, 15, 16}}, {"light", {}, {}}}};
  row.notes = {"repeated because agent a was lost"};
  return row;
}

}  // namespace plimsoll::testing
