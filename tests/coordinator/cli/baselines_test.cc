// Baseline runs from a store: found by the beginning of an id, read whole, and what is said when
// one is not there.
#include "coordinator/cli/baselines.h"

#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kBaseline = R"(name: base
target: {url: "http://127.0.0.1:1/v1", model: m}
corpus: {synthetic: agentx}
mix: {heavy: 50%, light: 50%}
sweep: {sessions: [2, 4]}
fleet: {local: 1}
bar: )";

std::string Text(const std::string& bar) {
  return std::string(kBaseline) + bar + "\n";
}

LoadedScenario Candidate(const std::string& runs, const std::string& sessions = "4") {
  LoadedScenario loaded;
  const auto scenario = ParseScenario(
      Text("{from_baseline: {runs: [" + runs + "], sessions: " + sessions + "}, ttft_p90: +25%}"),
      "s.yaml", "");
  EXPECT_TRUE(scenario.ok()) << scenario.status();
  loaded.scenario = *scenario;
  loaded.corpus_digest = "c0";
  return loaded;
}

void PutBaseline(RunRepo& repo, const std::string& id, std::int64_t ttft_ns,
                 const std::string& text = Text("{errors: 2%}"),
                 RunState state = RunState::kFinished) {
  RunInfo info{.id = id, .name = "base", .scenario_text = text, .corpus_digest = "c0"};
  info.state = state;
  info.started = WallTime(Duration(1'800'000'000'000'000'000));
  ASSERT_TRUE(repo.PutRun(info).ok());
  StepRow row;
  row.summary.plan = {.step = 1, .sessions = 4};
  row.summary.verdict = {.verdict = Verdict::kPass, .sent_share = 1};
  Cell cell;
  cell.counts.ttft_n = cell.counts.answer_n = cell.counts.attempts = 100;
  for (int i = 0; i < 100; ++i) cell.ttft_ns.Record(ttft_ns);
  ASSERT_TRUE(repo.PutStep(id, row, {cell}).ok());
}

TEST(ReadBaselines, GiveRelativeLimitsTheirValues) {
  MemoryStore store;
  RunRepo repo(store);
  PutBaseline(repo, "20261101-base", 2'000'000'000);
  PutBaseline(repo, "20261102-base", 2'000'000'000);
  LoadedScenario loaded = Candidate("20261101, 20261102-base");
  EXPECT_TRUE(NamesBaselines(loaded));
  const Status status = ReadBaselines(repo, &loaded);
  ASSERT_TRUE(status.ok()) << status;
  const Limit& limit = loaded.scenario.bar.limits.at(0);
  EXPECT_NEAR(limit.value, 2.5, 1e-9);
  EXPECT_THAT(limit.origin->runs, ElementsAre("20261101-base", "20261102-base"));
  EXPECT_NEAR(*limit.origin->low, 2.5, 1e-9);
  EXPECT_FALSE(NamesBaselines(loaded));
}

TEST(ReadBaselines, WhatCannotBeReadIsSaidForEachRun) {
  MemoryStore store;
  RunRepo repo(store);
  PutBaseline(repo, "good", 2'000'000'000);
  PutBaseline(repo, "odd", 2'000'000'000, "name: odd\nnonsense: 1\n");
  LoadedScenario loaded = Candidate("gone, odd, good");
  const Status status = ReadBaselines(repo, &loaded);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  const std::string text(status.message());
  EXPECT_THAT(text, HasSubstr("baseline run 'gone': "));
  EXPECT_THAT(text, HasSubstr("plimsoll runs list"));
  EXPECT_THAT(text, HasSubstr("\nbaseline run odd: its scenario"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("good")));

  loaded = Candidate("good", "2");
  EXPECT_THAT(std::string(ReadBaselines(repo, &loaded).message()),
              HasSubstr("was not measured at 2 sessions (it has 4)"));
}

void PutRecipe(RunRepo& repo, const std::string& id, char digest) {
  const RecipeFile file{.path = "r.yaml", .bytes = "a: 1\n", .digest = std::string(64, digest)};
  ASSERT_TRUE(repo.PutRecipe(id, {.note = "", .files = {file}}).ok());
}

TEST(ReadBaselines, RunsOfSeveralRecipesAreNotAveraged) {
  MemoryStore store;
  RunRepo repo(store);
  for (const char* id : {"a", "b", "c", "bare"}) PutBaseline(repo, id, 2'000'000'000);
  PutRecipe(repo, "a", '1');
  PutRecipe(repo, "b", '1');
  PutRecipe(repo, "c", '2');
  LoadedScenario loaded = Candidate("a, b");
  EXPECT_TRUE(ReadBaselines(repo, &loaded).ok());
  EXPECT_THAT(loaded.baseline_doubts, ::testing::IsEmpty());
  loaded = Candidate("bare, a, c");
  Status status = ReadBaselines(repo, &loaded);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("baseline run c is of another recipe than run a"));
  loaded = Candidate("a, bare");
  status = ReadBaselines(repo, &loaded);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(loaded.baseline_doubts,
              ElementsAre(HasSubstr("no recipe is kept with baseline run bare, so whether")));
  loaded = Candidate("bare");
  EXPECT_TRUE(ReadBaselines(repo, &loaded).ok());
  EXPECT_THAT(loaded.baseline_doubts, ::testing::IsEmpty()) << "one run is of one recipe";
}

TEST(ReadBaselines, ARunThatHasNotEndedIsNoBaseline) {
  MemoryStore store;
  RunRepo repo(store);
  PutBaseline(repo, "going", 2'000'000'000, Text("{errors: 2%}"), RunState::kRunning);
  LoadedScenario loaded = Candidate("going");
  const Status status = ReadBaselines(repo, &loaded);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("baseline run going: it has not ended (it goes on, or its coordinator "
                        "died); run the baseline again and name that run"));
}

TEST(ReadBaselines, NoStoreIsOpenedForABarOfNumbers) {
  LoadedScenario loaded;
  loaded.scenario.bar.limits = {{Metric::kErrors, 0, 0.02}};
  EXPECT_TRUE(ReadBaselines("/nonexistent/store", &loaded).ok());
  loaded = Candidate("good");
  EXPECT_FALSE(ReadBaselines("/nonexistent/store", &loaded).ok());
}

}  // namespace
}  // namespace plimsoll
