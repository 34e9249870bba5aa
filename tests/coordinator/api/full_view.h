// A run of which every field differs from its default, so that a forgotten one shows.
#pragma once

#include "tests/coordinator/api/sample_cost.h"
#include "tests/coordinator/api/sample_runs.h"

namespace plimsoll::testing {

inline Limit ATiersLimit() {
  return {.metric = Metric::kTtft,
          .quantile = 0.995,
          .value = 4,
          .tier = "heavy",
          .origin = LimitOrigin{.runs = {"r-1", "r-2"},
                                .sessions = 10,
                                .factor = 0.8,
                                .baseline = 5,
                                .low = 3,
                                .high = 5.5}};
}

inline ReportedStep FullStep() {
  ReportedStep step;
  StepSummary& s = step.summary;
  s.plan = {3, 15, 120s, 300s, 60s, 110s, 50s};
  PartVerdict part;
  part.limit = {Metric::kInteractivity, 0.9, 10, "heavy", ATiersLimit().origin};
  part.verdict = Verdict::kTooClose;
  part.lean = Lean::kFail;
  part.reason = "the interval crosses the limit";
  part.n = 812;
  part.value = 9.75;
  part.value_infinite = true;
  part.value_ok_only = 10.25;
  part.value_low = {8.5, true};
  part.value_high = {11, true};
  part.share_within = 0.885;
  part.share_low = 0.85;
  part.share_high = 0.91;
  part.margin = -0.025;
  s.verdict = {.verdict = Verdict::kTooClose,
               .is_void = true,
               .reasons = {"a", "b"},
               .parts = {part},
               .offered_share = 0.99,
               .sent_share = 0.98};
  s.requests_in_flight_mean = 12.5;
  s.ttft = {100, {1.5, true}, {2, true}, {2.5, true}, {2.25, true}, {3, true}, {4, true}};
  s.rate = {90, 4, 30.0, 11.0, 12.0, 8.0, 7.0, 6.0};
  s.errors = {200, 190, 9, 1, 3, 0.059, {}};
  s.errors.outcomes[1] = 190;
  s.errors.outcomes[12] = 1;
  s.lane_state_share = {0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01};
  s.calls_ok_per_s = 3.5;
  s.tokens_in = 1;
  s.tokens_cached = 2;
  s.tokens_out = 3;
  s.usage_missing = 4;
  s.fidelity = {180,   0.97, 0.99, 190, 170, 185, 0.01, 0.05,
                -0.02, 6,    30,   20,  8,   2,   1,    {11, 12, 13, 14, 15, 16, 17, 18, 19}};
  s.fidelity.tool_faults = {{0, 0, 0, 1, 3, 0, 1, 0, 0}};
  s.evals = SampleEvals();
  s.agents = {{1, "b:77", 8, 100, -5, 6, 7, 8, 4, 0.5, 9, false, false, -12}};
  s.agents[0].host = {.cores_used_max = 1.5,
                      .cores = 4.0,
                      .thread_share_max = 0.25,
                      .throttled_ns = 3'000'000,
                      .stolen_ns = 4'000'000,
                      .descriptors_max = 50,
                      .descriptors_limit = 1024,
                      .ports_max = 60,
                      .ports_limit = 28'232};
  s.suspicions = {{SuspicionCheck::kClocksStepped, "the wall clock moved"}};
  s.replay = {ThinkTime::kRecorded,
              60s,
              {128'000, OverLimit::kDropLongStarts},
              History::kLive,
              {{"heavy", {1, 9, 3, 4, 5, 6, 7, 8}, {9, 10, 11, 12, 13, 14, 15, 16}}}};
  s.identities = {{"attempts = outcomes", 200, 200, 1}};
  s.origin = {.kind = StepKind::kRefinement,
              .ladder = "light",
              .reason = "12 lie between",
              .failed_early_after = 3,
              .measured = 182s};
  s.server = ServerSummary{
      .mode = JudgeMode::kServer,
      .parts = {{PartSource::kEngines, 1, part}},
      .not_got = {{PartSource::kGateway, "gw", Signal::kTtft, Missing::kByDesign, "Envoy"}},
      .outcomes = {{PartSource::kEngines, "engine-0", Continuity::kRestarted, "fell"}},
      .figures = {{PartSource::kEngines, Signal::kKvFill, 0.5, 0.97, true}},
      .findings = {"5 against 4"},
      .ends_sweep = SweepEvent::kKvCacheFull,
      .ends_why = "full"};
  step.notes = {"repeated because agent a was lost"};
  return step;
}

inline RunView FullView() {
  RunView view{.info = ARun("r1", 1'800'000'000, RunState::kFinished)};
  view.live = true;
  view.status = ALiveStatus();
  view.status->agents[0].slot = 1;  // Not its default.
  view.status->numbers.ttft_p90_infinite = true;
  view.status->numbers.parts[0].value.infinite = true;
  // Of another bar than the rest: a tier's limit on TTFT stands before the one on all calls.
  view.status->numbers.parts.insert(view.status->numbers.parts.begin(),
                                    {ATiersLimit(), 40, {.value = 9, .infinite = true}});
  const CapacityEnd end = {CapacityEnd::Kind::kAt, 12.4, 9.6, true};
  view.info.capacity->band = CapacityBand{.value = end, .low = end, .high = end};
  view.info.capacity->parts[0] = {.limit = ATiersLimit(), .band = view.info.capacity->band};
  view.model = SampleRun();
  view.model.bar.limits[0] = ATiersLimit();
  view.model.steps = {FullStep()};
  view.model.tier_ladders = {{.tier = "light",
                              .bracket = {.passed = BracketEnd{20, 19.4},
                                          .failed = BracketEnd{30, 29.1},
                                          .sentence = "20 passed last, 30 failed first"}}};
  view.model.verdict = {.verdict = Verdict::kFail, .exit_code = 1, .reason = "15 do not hold"};
  view.model.preflight = PreflightSummary{.findings = {{FindingLevel::kWarning, "no min_tokens"}},
                                          .fit = TemplateFit{11, 4, 1.25},
                                          .min_tokens = true,
                                          .ignore_eos = true};
  view.log = {{.at = view.info.started, .text = "run r1"}};
  view.model.drain =
      DrainSummary{.state = DrainState::kNotBack,
                   .took = 61s,
                   .orphaned = 3,
                   .gauges = {{PartSource::kEngines, "engine-0", Signal::kRunning, 1, 3, true}},
                   .lines = {"engine-0: running 3"}};
  view.model.cost = FullCost();
  view.recipe = FullRecipe();
  return view;
}

}  // namespace plimsoll::testing
