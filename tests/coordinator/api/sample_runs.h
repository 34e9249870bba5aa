// Runs in a memory store and a live status, every field other than its default.
#pragma once

#include <string>
#include <utility>

#include "coordinator/api/results.h"
#include "coordinator/store/run_repo.h"
#include "tests/coordinator/report/sample_model.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll::testing {

inline constexpr char kScenario[] = R"(name: recipe-7
target: {url: "http://127.0.0.1:8080/v1", model: glm-5.3}
corpus: {synthetic: agentx}
mix: {heavy: 50%, light: 50%}
sweep: {sessions: [10, 15], target: 15, warm_up: 2m, measure: 5m, block: 1m}
bar: {ttft_p90: 5.3s, interactivity_p90: 10 tok/s, errors: 2%}
fleet: {local: 2}
)";

inline RunInfo ARun(std::string id, std::int64_t started_s, RunState state = RunState::kRunning) {
  RunInfo run{.id = std::move(id),
              .name = "recipe-7",
              .scenario_text = kScenario,
              .scenario_digest = "aa11",
              .seed = 0xffffffffffffffffu,
              .nonce = 17,
              .corpus_digest = "bb22",
              .started = WallTime(Duration(started_s * 1'000'000'000 + 250'000'000)),
              .state = state,
              .plimsoll_version = "0.1.0"};
  if (state != RunState::kRunning) {
    run.ended = run.started + 90s;
    run.exit_code = 1;
    run.message = "15 sessions miss: TTFT";
    const CapacityBand band = {.value = {CapacityEnd::Kind::kAt, 12.4, 9.6, true},
                               .low = {CapacityEnd::Kind::kAt, 10, 8},
                               .high = {CapacityEnd::Kind::kAtLeast, 15}};
    run.capacity =
        Capacity{.passed = 10,
                 .failed = 15,
                 .sentence = "10 sessions hold; 15 do not",
                 .limited_by = Metric::kTtft,
                 .requests_in_flight = 9.7,
                 .band = band,
                 .parts = {{.limit = {.metric = Metric::kErrors, .value = 0.02}},
                           {.limit = {.metric = Metric::kTtft, .value = 5.3}, .band = band}},
                 .limiting_part = 1};
  }
  return run;
}

inline StepRow RowOf(const ReportedStep& step) {
  return {.summary = step.summary, .notes = step.notes};
}

inline LiveStatus ALiveStatus() {
  LiveStatus status;
  status.phase = RunPhase::kStep;
  status.running_for = 95s;
  status.step = 2;
  status.part = StepPart::kMeasured;
  status.sessions = 15;
  status.steps_planned = 4;
  status.steps_judged = 2;
  status.lanes = 14;
  status.calls_in_flight = 13;
  status.numbers.attempts = 120;
  status.numbers.outcomes[static_cast<std::size_t>(Outcome::kOk)] = 117;
  status.numbers.outcomes[static_cast<std::size_t>(Outcome::kRefused)] = 3;
  status.numbers.ttft_n = 118;
  status.numbers.ttft_p90_s = 1.5;
  status.numbers.rate_n = 110;
  status.numbers.rate_reached_by_90_tok_s = 31.5;
  const Bar bar = DefaultBar();
  status.numbers.parts = {{bar.limits[0], 118, {.value = 2.5}},
                          {bar.limits[1], 110, {.value = 30.5}},
                          {bar.limits[2], 120, {.value = 0.025}}};
  status.place = 2;
  status.part_left = 42s;
  status.measured = 18s;
  status.agents_planned = 2;
  status.agents_present = 1;
  status.step_left = 42s;
  status.run_left = 600s;
  status.records_acked = 4321;
  status.agents = {{.slot = 0,
                    .name = "a\"1",
                    .alive = true,
                    .cores = 8,
                    .memory_bytes = std::uint64_t{16} << 30,
                    .lanes = 7,
                    .calls_in_flight = 6,
                    .silent_for = 500ms},
                   {.slot = 1, .name = "b", .alive = false, .cores = 4, .silent_for = 20s}};
  return status;
}

// A store with runs, and who is at which.
struct RunsRig {
  MemoryStore store;
  RunRepo repo{store};
  std::optional<LiveRun> live;
  Status broken;  // Not OK: the store cannot be read.
  int reads = 0;

  ResultsDeps Deps() {
    return {.repo = [this](Freshness) -> StatusOr<const RunRepo*> {
              ++reads;
              if (!broken.ok()) return broken;
              return &repo;
            },
            .live = [this] { return live; }};
  }
  void BeginRun(const std::string& id) {
    ASSERT_TRUE(repo.PutRun(ARun(id, 1'800'000'000)).ok());
    live = LiveRun{.run_id = id, .status = ALiveStatus()};
  }
  void AddStep(const std::string& id, std::size_t index) {
    ASSERT_TRUE(repo.PutStep(id, RowOf(SampleRun().steps[index])).ok());
  }
  void EndRun(const std::string& id) {
    ASSERT_TRUE(repo.PutRun(ARun(id, 1'800'000'000, RunState::kFinished)).ok());
    live.reset();
  }
};

}  // namespace plimsoll::testing
