// Runs for the comparison's tests: two recipes that differ in one key, with their cells.
#pragma once

#include <string>
#include <utility>

#include "coordinator/report/comparison.h"
#include "coordinator/report/run_report.h"
#include "tests/coordinator/report/sample_model.h"

namespace plimsoll::testing {

inline RecipeFile AFile(std::string path, std::string bytes) {
  std::string digest(64, '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    digest[i % 64] = "0123456789abcdef"[(digest[i % 64] + bytes[i]) & 15];
  }
  return {.path = std::move(path), .bytes = std::move(bytes), .digest = std::move(digest)};
}

inline Scenario ComparedScenario() {
  Scenario s;
  s.name = "recipe-6";
  s.target.url = "http://127.0.0.1:8080/v1";
  s.target.model = "glm-5.3";
  s.mix = {{"heavy", Tier::kHeavy, 1}, {"light", Tier::kLight, 1}};
  s.sweep.sessions = {10, 15};
  s.sweep.target = 10;
  s.bar = DefaultBar();
  s.cost = CostSpec{.nodes = 4, .per_node_hour = {14'400'000, "USD"}};
  s.seed = 42;
  return s;
}

// A step of the healthy evidence in which lane k has `slow[k % size]` slow calls of 12 in each
// block.
struct SlowStep {
  std::uint32_t sessions = 10;
  std::vector<std::uint32_t> slow = {0, 1};
};

inline void AddStep(const SlowStep& spec, ComparedRun* run) {
  StepEvidence e = Healthy();
  e.plan.step = static_cast<std::uint32_t>(run->model.steps.size());
  e.plan.sessions = spec.sessions;
  e.requests_in_flight_mean = 0.97 * spec.sessions;
  for (CellCounts& cell : e.cells) {
    const std::uint32_t slow = spec.slow[cell.lane % spec.slow.size()];
    cell.parts[0].hits = cell.parts[0].hits_strict = cell.parts[0].hits_loose = 12 - slow;
  }
  run->model.steps.push_back({.summary = Summarize(e, JudgeStep(e, run->model.bar))});
  run->cells.push_back(e.cells);
}

inline ComparedRun ARecipe(const std::string& id, const Scenario& scenario, KeptRecipe recipe,
                           const std::vector<SlowStep>& steps) {
  ComparedRun run{.info = {.id = id,
                           .name = scenario.name,
                           .seed = scenario.seed,
                           .corpus_digest = "c0ffee00",
                           .started = WallTime(Duration(std::int64_t{1'800'000'000'000'000'000})),
                           .state = RunState::kFinished,
                           .plimsoll_version = "0.1.0"},
                  .scenario = scenario,
                  .recipe = std::move(recipe)};
  run.info.cost = CostOf(scenario);
  run.model = ModelOf(run.info, scenario, *run.recipe, {}, "agentx.corpus");
  for (const SlowStep& step : steps) AddStep(step, &run);
  Conclude(run.model);
  return run;
}

// Recipe 6 holds 10 sessions and misses 15; recipe 7, on five nodes, holds both.
inline std::vector<ComparedRun> TwoRecipes() {
  const Scenario six = ComparedScenario();
  Scenario seven = six;
  seven.name = "recipe-7";
  seven.cost->nodes = 5;
  return {ARecipe("20260101-recipe-6", six,
                  {.files = {AFile("6.yaml", "engine: {tp: 8, chunk: 2048}\ncopies: 2\n")}},
                  {{10, {0, 1, 1}}, {15, {4, 5, 3}}}),
          ARecipe("20260102-recipe-7", seven,
                  {.files = {AFile("7.yaml", "engine: {tp: 8, chunk: 4096}\ncopies: 2\n")}},
                  {{10, {0, 1, 0}}, {15, {0, 1, 1}}})};
}

}  // namespace plimsoll::testing
