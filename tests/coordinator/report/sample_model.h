// Runs for the reports' tests: one that found its ceiling, with a void step on the way.
#pragma once

#include "coordinator/judge/judge_step.h"
#include "coordinator/report/report_model.h"
#include "tests/coordinator/judge/evidence_builder.h"

namespace plimsoll::testing {

inline ReportedStep Judged(StepEvidence evidence, std::uint32_t index, std::uint32_t sessions) {
  evidence.plan.step = index;
  evidence.plan.sessions = sessions;
  evidence.requests_in_flight_mean = 0.97 * sessions;
  const StepVerdict verdict = JudgeStep(evidence, DefaultBar());
  ReportedStep step{.summary = Summarize(evidence, verdict)};
  step.summary.suspicions = SuspicionsOf(evidence, verdict.is_void, {});
  return step;
}

// Evals that stand beside a step: of two kinds, one of which breaks under load.
inline EvalSummary SampleEvals() {
  return {.verdict = Verdict::kTooClose,
          .lean = Lean::kFail,
          .reason = "37 of 44 passed, 95% interval 69.9% to 93.4%: 90.0% lies within",
          .loaded = {{0, 37, 3, 1, 2, 0, 1, 4}},
          .unloaded = {{0, 71, 1, 0, 0, 0, 0, 0}},
          .interval = {0.699, 0.934},
          .change = Interval{-0.28, -0.03},
          .faults = {{0, 0, 0, 1, 0, 1, 0, 0, 0}},
          .kinds = {{"arithmetic", {{0, 22, 0, 0, 0, 0, 0, 2}}, {{0, 30, 0, 0, 0, 0, 0, 0}}},
                    {"tool-single", {{0, 15, 3, 1, 2, 0, 1, 2}}, {{0, 41, 1, 0, 0, 0, 0, 0}}}}};
}

inline ReportModel EmptyRun() {
  ReportModel model{.run_name = "recipe-7",
                    .run_id = "20260101-2200-7f3a",
                    .started_at = "2026-01-01 22:00:00 UTC",
                    .target_url = "http://127.0.0.1:8080/v1",
                    .model = "glm-5.3",
                    .corpus = "agentx.corpus, 100 sessions, half heavy, half light",
                    .target = 15,
                    .bar = DefaultBar()};
  Conclude(model);
  return model;
}

inline ReportModel SampleRun() {
  ReportModel model = EmptyRun();
  StepEvidence lost = Healthy();
  lost.agents.push_back({.slot = 1, .name = "agent-1", .lanes = 5, .attempts = 211, .lost = true});
  lost.identities.push_back({.name = "acked = stored", .left = 590, .right = 600});

  // 17 calls a cell: 12 as ever, 4 slow ones answered in one chunk, 1 refused; one failed play.
  StepEvidence slow = Healthy();
  for (CellCounts& cell : slow.cells) {
    cell.ttft_n = cell.answer_n = cell.attempts = 17;
    cell.end_to_end_n = 13;
    cell.rate_n = 12;
    cell.parts = {Counted(17, 12), Counted(12, 11), {}};
    cell.rate_one_chunk = 5;
    cell.failed = 1;
  }
  slow.cells[3].unsent = 12;
  for (int i = 0; i < 200; ++i) slow.ttft_ns.Record(6'000'000'000 + i * 10'000'000);
  slow.ttft_infinite = slow.rate_zero = slow.end_to_end_zero = slow.answer_infinite = 50;
  slow.outcomes[static_cast<std::size_t>(Outcome::kOk)] = 800;
  slow.outcomes[static_cast<std::size_t>(Outcome::kRefused)] = 50;
  slow.identities[0].left = slow.identities[0].right = 850;
  slow.agents[0].attempts = 850;
  slow.replay = {.think_time = ThinkTime::kRecorded,
                 .think_time_cap = 60s,
                 .context_limit = {128'000, OverLimit::kSkipCalls},
                 .history = History::kLive,
                 .tiers = {{.name = "heavy",
                            .fidelity = {40, 900'000'000'000, 300'000'000'000, 70, 2, 5, 610, 90},
                            .context = {32, 3, 20, 1000, 846, 0, 90'000'000, 80'000'000}},
                           {.name = "light", .context = {32, 0, 4, 1000, 29, 0, 1'000, 10}}}};
  slow.usage_missing = 3;
  slow.fidelity.doubts = {.no_output = 1,
                          .first_chunk_over = 2,
                          .output_over_cap = 40,
                          .cached_over_prompt = 3,
                          .rate_unbelievable = 4,
                          .answers = 500,
                          .answers_unlike = 450,
                          .chunks = 5'000,
                          .tokens = 20'000};

  model.steps = {Judged(Healthy(), 0, 10), Judged(lost, 1, 15), Judged(slow, 2, 15)};
  // The plan's context limit is the same in every step; what lanes counted is each step's.
  model.steps[0].summary.replay = slow.replay;
  for (TierReplay& tier : model.steps[0].summary.replay.tiers) tier.fidelity = {};
  model.steps[2].summary.evals = SampleEvals();
  FidelitySummary& tools = model.steps[2].summary.fidelity;
  tools.tool_present = 30;
  tools.tool_valid = 24;
  tools.tool_invalid = 5;
  tools.tool_faults = {{0, 0, 0, 1, 3, 0, 1, 0, 0}};
  model.bar.evals = {.pass_rate = 0.9, .drop = 0.05};
  model.steps[2].notes = {"repeated: the step before had no data"};
  model.price = CostSettings{.nodes = 4, .micros = 14'400'000, .currency = "USD"};
  model.recipe_note = "two copies";
  model.recipe_files = {{.path = "recipes/7.yaml",
                         .digest = std::string(64, '7'),
                         .bytes = 120,
                         .secrets_left_out = 1}};
  model.stopped_because = "15 sessions miss (14.5 requests in flight): TTFT, errors";
  model.notes = {"what an interval is about: this deployment, in this window, with other sessions"};
  model.files_written = {"store/ (run 20260101-2200-7f3a)", "report.json"};
  Conclude(model);
  return model;
}

// One with an extension, a step failed early, a refinement, and a ladder on light sessions alone.
inline ReportModel SweptRun() {
  const ReportModel sample = SampleRun();
  ReportModel model = EmptyRun();
  const auto add = [&model](ReportedStep step, std::uint32_t sessions, StepOrigin origin) {
    step.summary.plan.step = static_cast<std::uint32_t>(model.steps.size());
    step.summary.plan.sessions = sessions;
    step.notes.clear();
    if (origin.kind != StepKind::kPlanned) step.notes.push_back(origin.reason);
    step.summary.origin = std::move(origin);
    model.steps.push_back(std::move(step));
  };
  const ReportedStep& good = sample.steps[0];
  const ReportedStep& bad = sample.steps[2];
  add(good, 10, {.reason = "nothing was run yet; next 10"});
  add(good, 10,
      {.kind = StepKind::kExtension,
       .reason = "10 sessions are too close to call, leaning pass (9.7 requests in flight): more "
                 "time for it"});
  add(bad, 20,
      {.reason = "10 sessions hold (9.7 requests in flight); next 20",
       .failed_early_after = 2,
       .measured = 122s});
  add(good, 15,
      {.kind = StepKind::kRefinement,
       .reason = "20 sessions miss (14.5 requests in flight): TTFT, errors; 10 hold (9.7 requests "
                 "in flight) and 20 do not (14.5 requests in flight): 15 lie between"});
  add(good, 10, {.ladder = "light", .reason = "nothing was run yet; next 10"});
  add(bad, 15, {.ladder = "light", .reason = "10 sessions hold (9.7 requests in flight); next 15"});
  model.stopped_because =
      "15 sessions hold (9.7 requests in flight); 2m left of the budget, too little for a step "
      "between";
  Conclude(model);
  return model;
}

// A step against every kind of limit: two percentiles, a tier's, end to end, goodput, and limits
// that come from baseline runs that differ, and from one.
inline ReportModel RunOfManyLimits() {
  const LimitOrigin three{.runs = {"20260101-a", "20260102-b", "20260103-c"},
                          .sessions = 10,
                          .factor = 1.1,
                          .baseline = 3.8,
                          .low = 3.7,
                          .high = 4.7};
  LimitOrigin one{.runs = {"20260101-a"}, .sessions = 10, .factor = 0.8, .baseline = 15};
  ReportModel model = EmptyRun();
  model.bar.limits = {{Metric::kTtft, 0.9, 4.18, "", three},
                      {Metric::kTtft, 0.99, 30},
                      {Metric::kTtft, 0.9, 10, "heavy"},
                      {Metric::kInteractivity, 0.9, 12, "", one},
                      {Metric::kEndToEndInteractivity, 0.9, 8},
                      {Metric::kGoodput, 0.9, 15},
                      {Metric::kErrors, 0, 0.02}};
  StepEvidence e = Healthy();
  e.tiers.resize(2);
  e.tiers[0].Merge(e);  // Not half of the calls, but as they are.
  for (CellCounts& cell : e.cells) {
    cell.parts = {{12, 12, 9, 12},
                  Counted(12, 12),
                  Counted(cell.tier == 0 ? 12 : 0, 12),
                  Counted(11, 11),
                  Counted(12, 12),
                  Counted(12, 9),
                  {}};
  }
  model.steps = {{.summary = Summarize(e, JudgeStep(e, model.bar))}};
  Conclude(model);
  return model;
}

}  // namespace plimsoll::testing
