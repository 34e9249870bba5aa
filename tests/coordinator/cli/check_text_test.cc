// What `check` prints, against golden files (PLIMSOLL_UPDATE_GOLDEN=1 rewrites them; review the
// diff): a rehearsal with everything, and a plan that can say nothing.
#include "coordinator/cli/check_text.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/corpus/synth.h"
#include "coordinator/planning/planner.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/scenario/scenario_reader.h"
#include "tests/fakes/golden.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::ExpectGolden;
std::string Checked(const std::string& yaml, Corpus corpus) {
  const auto scenario = ParseScenario(yaml, "s.yaml", "");
  EXPECT_TRUE(scenario.ok()) << MessageOf(scenario.status());
  if (!scenario.ok()) return {};
  const auto plan = MakeRunPlan(*scenario, corpus, {});
  EXPECT_TRUE(plan.ok());
  if (!plan.ok()) return {};
  return CheckText(*scenario, *plan, corpus, MakeDryPlan(*scenario, *plan, corpus));
}

constexpr const char* kRehearsal = R"(name: rehearsal
target: {url: "http://127.0.0.1:8080/v1", model: m}
corpus: {synthetic: agentx, heavy: 4, light: 4, scale: 20}
mix: {heavy: 50%, light: 50%}
sweep: {sessions: [2, 6, 12], target: 12, warm_up: 3s, measure: 24s, block: 3s, drain_limit: 8s,
        prime_limit: 8s}
bar: {ttft_p90: 1s, interactivity_p90: 6 tok/s, errors: 5%}
fleet: {local: 2}
cost: {nodes: 4, per_node_hour: 14.40 USD}
)";

Corpus Small() {
  return SynthCorpus({.seed = 1, .heavy = 4, .light = 4, .scale = 20});
}

TEST(CheckText, MatchesTheGoldenFile) {
  ExpectGolden("check/rehearsal.txt", Checked(kRehearsal, Small()));
}

TEST(CheckText, ShowsEveryLadderAndTheBudget) {
  std::string yaml = kRehearsal;
  yaml.replace(yaml.find("prime_limit: 8s}"), 16, "prime_limit: 8s, budget: 4m}");
  ExpectGolden("check/ladders.txt", Checked(yaml + "ladders: [mix, light]\n", Small()));
}

TEST(CheckText, FitsAHundredColumnsAlsoWithManyAgents) {
  std::string yaml = kRehearsal;
  yaml.replace(yaml.find("{local: 2}"), 10, "{agents: 10000, listen: \"127.0.0.1:7420\"}");
  yaml.replace(yaml.find("[2, 6, 12], target: 12"), 22, "[2, 4096], target: 4096");
  std::istringstream lines(Checked(yaml, Small()));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(Columns(line), 100u) << line;
}

TEST(CheckText, SaysWhatToDoWhereAStepCannotCarryItsPercentile) {
  std::string yaml = kRehearsal;
  yaml.replace(yaml.find("ttft_p90: 1s"), 12, "ttft_p99: 1s");
  const std::string text = Checked(yaml, Small());
  EXPECT_THAT(text, ::testing::HasSubstr("368 calls that TTFT P99 needs"));
  EXPECT_THAT(text, ::testing::HasSubstr("sweep.measure"));
  EXPECT_THAT(text, ::testing::HasSubstr("with fewer than three, intervals rest on runs"));
}

}  // namespace
}  // namespace plimsoll
