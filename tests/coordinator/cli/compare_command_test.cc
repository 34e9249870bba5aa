// `plimsoll compare` over stores made here: what it reads, what it refuses in a sentence, and the
// whole command over a real store.
#include "coordinator/cli/compare_command.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "common/json/json.h"
#include "coordinator/store/rocks_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/report/compare_sample.h"
#include "tests/coordinator/store/temp_folder.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kScenario[] = R"(name: {name}
recipe: {{files: [{name}.yaml]}}
target: {{url: "http://127.0.0.1:8080/v1", model: glm-5.3}}
corpus: {{synthetic: agentx}}
mix: {{heavy: 50%, light: 50%}}
sweep: {{sessions: [10, 15], target: 10, warm_up: 2m, measure: 5m, block: 1m}}
bar: {{ttft_p90: 5.3s, interactivity_p90: 10 tok/s, errors: 2%}}
fleet: {{local: 2}}
cost: {{nodes: {nodes}, per_node_hour: 14.40 USD}}
seed: {seed}
)";

std::string ScenarioText(const std::string& name, int nodes, int seed = 42) {
  return fmt::format(kScenario, fmt::arg("name", name), fmt::arg("nodes", nodes),
                     fmt::arg("seed", seed));
}

void Put(RunRepo& repo, const ComparedRun& run, const std::string& scenario_text) {
  RunInfo info = run.info;
  info.scenario_text = scenario_text;
  ASSERT_TRUE(repo.PutRun(info).ok());
  if (run.recipe) {
    ASSERT_TRUE(repo.PutRecipe(info.id, *run.recipe).ok());
  }
  for (std::size_t i = 0; i < run.model.steps.size(); ++i) {
    std::vector<Cell> cells;
    for (const CellCounts& counts : run.cells[i]) cells.push_back({.counts = counts});
    ASSERT_TRUE(
        repo.PutStep(info.id, {.summary = run.model.steps[i].summary, .notes = {}}, cells).ok());
  }
}

void PutTwo(RunRepo& repo) {
  const std::vector<ComparedRun> runs = testing::TwoRecipes();
  Put(repo, runs[0], ScenarioText("recipe-6", 4));
  Put(repo, runs[1], ScenarioText("recipe-7", 5));
}

class CompareStoredTest : public ::testing::Test {
 protected:
  void SetUp() override { PutTwo(repo_); }
  std::string Refused(CompareFlags flags) {
    const auto comparison = CompareStored(repo_, flags);
    EXPECT_FALSE(comparison.ok());
    return std::string(MessageOf(comparison.status()));
  }

  MemoryStore store_;
  RunRepo repo_{store_};
};

TEST_F(CompareStoredTest, ReadsTheSameAsTheModels) {
  const auto comparison = CompareStored(repo_, {.runs = {"20260101", "20260102"}});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_EQ(comparison->runs[0].id, "20260102-recipe-7");
  EXPECT_EQ(comparison->target, 10u);
  ASSERT_TRUE(comparison->pairs[0].paired);
  ASSERT_EQ(comparison->pairs[0].steps.size(), 6u);
  EXPECT_TRUE(comparison->pairs[0].steps[3].share.by_lane);
  EXPECT_TRUE(comparison->pairs[0].steps[3].share.supported());
  EXPECT_THAT(comparison->warnings, Contains(HasSubstr("key engine.chunk")));
}

TEST_F(CompareStoredTest, AnExtensionIsReadWithWhatItExtends) {
  // The same calls, once as a step and once as half of it and an extension with the rest.
  std::vector<ComparedRun> runs = testing::TwoRecipes();
  ComparedRun& split = runs[0];
  split.info.id = "20260103-split";
  const StepSummary whole = split.model.steps[0].summary;
  StepSummary first = whole;
  first.plan.measure = 2 * whole.plan.block;
  StepSummary more = whole;
  more.plan.step = 2;
  more.origin.kind = StepKind::kExtension;
  std::vector<CellCounts> cells = split.cells[0];
  std::vector<CellCounts> rest;
  for (const CellCounts& cell : cells) {
    if (cell.block < 2) continue;
    rest.push_back(cell);
    rest.back().block -= 2;
  }
  std::erase_if(cells, [](const CellCounts& cell) { return cell.block >= 2; });
  split.model.steps = {{.summary = first}, {.summary = more}};
  split.cells = {cells, rest};
  Put(repo_, split, ScenarioText("recipe-6", 4));
  const auto differences = [&](const std::string& id) {
    const auto comparison = CompareStored(repo_, {.runs = {id, "20260102-recipe-7"}, .target = 10});
    std::vector<double> values;
    if (!comparison.ok()) return values;
    for (const StepDifference& step : comparison->pairs[0].steps) {
      if (step.sessions != 10) continue;
      for (double value : {step.share.value, step.share.low, step.share.high}) {
        values.push_back(value);
      }
    }
    return values;
  };
  EXPECT_THAT(differences("20260103-split"), ::testing::SizeIs(::testing::Gt(0u)));
  EXPECT_EQ(differences("20260103-split"), differences("20260101-recipe-6"));
}

TEST_F(CompareStoredTest, BadInputEndsInASentence) {
  EXPECT_THAT(Refused({.runs = {"20260101"}}), HasSubstr("compare takes 2 to 26 runs, not 1"));
  EXPECT_THAT(Refused({.runs = {}}), HasSubstr("not 0"));
  EXPECT_THAT(Refused({.runs = std::vector<std::string>(27, "x")}), HasSubstr("not 27"));
  EXPECT_THAT(Refused({.runs = {"20260101", "20260101-recipe-6"}}), HasSubstr("named twice"));
  EXPECT_THAT(Refused({.runs = {"20260101", "nosuch"}}), HasSubstr("the latest are 2026"));
  EXPECT_THAT(Refused({.runs = {"202601", "20260102"}}), HasSubstr("several runs begin with"));
  EXPECT_THAT(Refused({.runs = {"a/b", "20260102"}}), HasSubstr("a run's id is"));
  EXPECT_THAT(Refused({.runs = {"", "20260102"}}), HasSubstr("a run's id is"));
}

TEST_F(CompareStoredTest, ARunThatHasNotEndedIsComparedOnlyIfAsked) {
  ComparedRun run = testing::TwoRecipes()[0];
  run.info.id = "20260103-recipe-6";
  run.info.state = RunState::kRunning;
  Put(repo_, run, ScenarioText("recipe-6", 4));
  EXPECT_THAT(Refused({.runs = {"20260103", "20260102"}}), HasSubstr("has not ended"));
  const auto anyway = CompareStored(repo_, {.runs = {"20260103", "20260102"}, .anyway = true});
  ASSERT_TRUE(anyway.ok()) << anyway.status();
  EXPECT_THAT(anyway->warnings, Contains(HasSubstr("B has not ended")));
}

TEST_F(CompareStoredTest, ARunThatWasStoppedIsComparedWithAWarning) {
  ComparedRun run = testing::TwoRecipes()[0];
  run.info.id = "20260109-stopped";
  run.info.state = RunState::kStopped;
  run.info.message = "the kill switch";
  Put(repo_, run, ScenarioText("recipe-6", 4));
  const auto comparison = CompareStored(repo_, {.runs = {"20260109", "20260102"}});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_THAT(comparison->warnings, Contains(HasSubstr("B was stopped: the kill switch")));
}

TEST_F(CompareStoredTest, ARunWithoutAStepOrWithAScenarioOfAnotherVersionIsRefused) {
  ComparedRun run = testing::TwoRecipes()[0];
  run.info.id = "20260104-empty";
  run.model.steps.clear();
  Put(repo_, run, ScenarioText("recipe-6", 4));
  EXPECT_THAT(Refused({.runs = {"20260104", "20260102"}}), HasSubstr("has no judged step"));
  run = testing::TwoRecipes()[0];
  run.info.id = "20260105-odd";
  Put(repo_, run, "name: x\nfuture: 1\n");
  EXPECT_THAT(Refused({.runs = {"20260105", "20260102"}}), HasSubstr("cannot read"));
}

TEST_F(CompareStoredTest, WhatIsNotComparableIsRefusedUnlessTold) {
  ComparedRun run = testing::TwoRecipes()[0];
  run.info.id = "20260106-other";
  run.info.corpus_digest = "beef";
  run.model.bar.limits[0].value = 9;
  std::string text = ScenarioText("recipe-6", 4);
  text.replace(text.find("5.3s"), 4, "9.0s");
  Put(repo_, run, text);
  const std::string why = Refused({.runs = {"20260106", "20260102"}});
  EXPECT_THAT(why, HasSubstr("--anyway"));
  EXPECT_THAT(why, HasSubstr("another corpus"));
  EXPECT_THAT(why, HasSubstr("another bar"));
  const auto anyway = CompareStored(repo_, {.runs = {"20260106", "20260102"}, .anyway = true});
  ASSERT_TRUE(anyway.ok()) << anyway.status();
  EXPECT_THAT(anyway->pairs[0].steps, IsEmpty());
}

TEST_F(CompareStoredTest, TargetsThatDifferMustBeNamed) {
  ComparedRun run = testing::TwoRecipes()[0];
  run.info.id = "20260107-more";
  std::string text = ScenarioText("recipe-6", 4);
  text.replace(text.find("target: 10"), 10, "target: 15");
  Put(repo_, run, text);
  EXPECT_THAT(Refused({.runs = {"20260107", "20260102"}}), HasSubstr("--target N"));
  EXPECT_TRUE(CompareStored(repo_, {.runs = {"20260107", "20260102"}, .target = 15}).ok());
}

TEST_F(CompareStoredTest, RunsOfEarlierVersionsHaveNoRecipeAndNoPriceOfTheirOwn) {
  ComparedRun run = testing::TwoRecipes()[0];
  run.info.id = "20260108-old";
  run.info.cost.reset();
  run.recipe.reset();
  Put(repo_, run, ScenarioText("recipe-6", 4));
  const auto comparison = CompareStored(repo_, {.runs = {"20260108", "20260102"}});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  EXPECT_THAT(comparison->warnings, Contains(HasSubstr("no recipe is kept with B")));
  EXPECT_EQ(comparison->runs[1].cost.settings->nodes, 4u) << "the scenario's";
}

// The command, with its words and its files.
int Main(std::vector<const char*> words) {
  return CompareMain(static_cast<int>(words.size()), words.data());
}

TEST(CompareCommand, PrintsTheTableAndWritesTheJson) {
  TempFolder folder;
  const std::string store_path = folder.path() + "/store";
  {
    auto store = OpenRocksStore(store_path, StoreAccess::kReadWrite);
    ASSERT_TRUE(store.ok()) << store.status();
    RunRepo repo(**store);
    PutTwo(repo);
  }
  const std::string json_path = folder.path() + "/c.json";
  ::testing::internal::CaptureStdout();
  const int code = Main({"20260101", "20260102", "--store", store_path.c_str(), "--json",
                         json_path.c_str(), "--target", "15"});
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  EXPECT_EQ(out.rfind("WINNER     A, recipe-7: the only one that holds 15", 0), 0u) << out;
  std::ifstream file(json_path);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["winner"]["letter"], "A");
  EXPECT_EQ(json["runs"][0]["id"], "20260102-recipe-7");
  EXPECT_DOUBLE_EQ(json["runs"][0]["cost"]["per_session_hour"], 4.8);

  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Main({"20260101", "--store", store_path.c_str()}), 64);
  EXPECT_EQ(Main({"20260101", "nosuch", "--store", store_path.c_str()}), 64);
  EXPECT_EQ(Main({"20260101", "20260102", "--store", store_path.c_str(), "--target", "0"}), 64);
  EXPECT_EQ(Main({"a", "b", "--store", (folder.path() + "/none").c_str()}), 64);
  EXPECT_EQ(Main({"20260101", "20260102", "--store", store_path.c_str(), "--json",
                  (folder.path() + "/no/such/folder.json").c_str()}),
            64);
  EXPECT_EQ(Main({}), 64);
  const std::string err = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(err, HasSubstr("compare takes 2 to 26 runs"));
  EXPECT_THAT(err, HasSubstr("the store has no run nosuch"));
}

}  // namespace
}  // namespace plimsoll
