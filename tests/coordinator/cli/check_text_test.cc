// What `check` prints, against golden files (PLIMSOLL_UPDATE_GOLDEN=1 rewrites them; review the
// diff): a rehearsal with everything, and a plan that can say nothing.
#include "coordinator/cli/check_text.h"

#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/quantities.h"
#include "common/corpus/synth.h"
#include "coordinator/planning/planner.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/scenario/scenario_reader.h"
#include "tests/fakes/golden.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::ExpectGolden;
std::string Checked(const Scenario& scenario, const Corpus& corpus) {
  const auto plan = MakeRunPlan(scenario, corpus, {});
  EXPECT_TRUE(plan.ok());
  if (!plan.ok()) return {};
  return CheckText(scenario, *plan, corpus, MakeDryPlan(scenario, *plan, corpus));
}

std::string Checked(const std::string& yaml, const Corpus& corpus) {
  const auto scenario = ParseScenario(yaml, "s.yaml", "");
  EXPECT_TRUE(scenario.ok()) << MessageOf(scenario.status());
  return scenario.ok() ? Checked(*scenario, corpus) : std::string();
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

// Each line whole.
std::string Unwrapped(std::string text) {
  const std::string indent = "\n" + std::string(11, ' ');
  for (std::size_t at = 0; (at = text.find(indent, at)) != std::string::npos;) {
    text.replace(at, indent.size(), " ");
  }
  return text;
}

// The first measured time that a warning advises.
std::string Advised(const std::string& text) {
  constexpr std::string_view kSet = "set sweep.measure to ";
  const std::size_t at = text.find(kSet);
  if (at == std::string::npos) return {};
  const std::string rest = text.substr(at + kSet.size());
  return rest.substr(0, rest.find(' '));
}

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

// Sessions that pause keep fewer requests open the faster they are served.
TEST(CheckText, SaysHowManyRequestsAStepKeepsInFlight) {
  const std::string text =
      Checked(std::string(kRehearsal) + "replay: {think_time: recorded}\n", Small());
  EXPECT_THAT(text, ::testing::ContainsRegex("1 +2 +[0-9.]+–[0-9.]+ +1 +1"));
  EXPECT_THAT(Checked(kRehearsal, Small()), ::testing::ContainsRegex("3 +12\\* +12.0 +6 +6"));
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

// What a warning advises is a scenario that is accepted, and the warning is gone.
TEST(CheckText, WhatItAdvisesIsAcceptedAndEnough) {
  const Corpus corpus = Small();
  int asked = 0;
  for (const char* bar : {"{ttft_p90: 1s}", "{interactivity_p99: 6 tok/s, errors: 2%}"}) {
    for (const char* block : {"3s", "7s", "1500ms"}) {
      for (const int sessions : {1, 6}) {
        SCOPED_TRACE(fmt::format("{}, blocks of {}, sessions {}", bar, block, sessions));
        std::string measure = fmt::format("{}ms", *ParseDuration(block) * 2 / 1ms);
        // As recorded, then at the bar, of each of two parts: then there is nothing to say.
        for (int round = 0; !measure.empty(); ++round) {
          ASSERT_LT(round, 6);
          const std::string text = Unwrapped(
              Checked(fmt::format("name: n\ntarget: {{url: \"http://127.0.0.1:1/v1\", model: m}}\n"
                                  "corpus: {{synthetic: agentx, heavy: 4, light: 4, scale: 20}}\n"
                                  "mix: {{heavy: 50%, light: 50%}}\nfleet: {{local: 1}}\n"
                                  "sweep: {{sessions: [{}], measure: {}, block: {}}}\nbar: {}\n",
                                  sessions, measure, block, bar),
                      corpus));
          ASSERT_NE(text, "") << measure << " was refused";
          const std::string advice = Advised(text);
          if (!advice.empty()) {
            EXPECT_GT(*ParseDuration(advice), *ParseDuration(measure));
            ++asked;
          }
          measure = advice;
        }
      }
    }
  }
  EXPECT_GT(asked, 12);
}

TEST(CheckText, AdvisesNoMeasureBeyondTheLimits) {
  std::string yaml = kRehearsal;
  yaml.replace(yaml.find("ttft_p90: 1s"), 12, "ttft_p99: 1s");
  yaml.replace(yaml.find("errors: 5%"), 10, "errors: 0.001%");
  const std::string text = Unwrapped(Checked(yaml, Small()));
  EXPECT_THAT(text, ::testing::HasSubstr("no sweep.measure of such blocks is long enough"));
}

TEST(CheckText, SaysWhatBaselineRunsDoToTheTable) {
  auto scenario = ParseScenario(kRehearsal, "s.yaml", "");
  ASSERT_TRUE(scenario.ok());
  EXPECT_THAT(Checked(*scenario, Small()), ::testing::Not(::testing::HasSubstr("baseline")));
  LimitOrigin origin{.runs = {"a", "b"}, .sessions = 6, .factor = 1.1, .baseline = 0.9};
  origin.low = 0.85;
  origin.high = 1.2;
  scenario->bar.limits[0].origin = origin;
  origin.low = 0.031234567;
  origin.high = 0.07;
  scenario->bar.limits[2].origin = origin;
  std::string text = Unwrapped(Checked(*scenario, Small()));
  EXPECT_THAT(text, ::testing::HasSubstr("baseline   TTFT P90: the 2 baseline runs differ, so it "
                                         "passes only by 0.85 s and fails only by 1.2 s"));
  EXPECT_THAT(text, ::testing::HasSubstr("errors: the 2 baseline runs differ, so it passes only by "
                                         "3.123% and fails only by 7%"));
  EXPECT_THAT(text, ::testing::HasSubstr("without a failure that errors <= 3.123% needs to pass"));
  scenario->bar.limits[0].origin = LimitOrigin{.runs = {"a"}, .sessions = 6, .baseline = 0.9};
  text = Unwrapped(Checked(*scenario, Small()));
  EXPECT_THAT(text, ::testing::HasSubstr("TTFT P90: one run cannot tell how windows differ, so the "
                                         "limit of 1 s is taken as exact"));
}

TEST(CheckText, OneIsNotMany) {
  std::string yaml = kRehearsal;
  yaml.replace(yaml.find("[2, 6, 12], target: 12"), 22, "[1], target: 1");
  yaml.replace(yaml.find("{local: 2}"), 10, "{local: 1}");
  const std::string text = Checked(yaml, Small());
  EXPECT_THAT(text, ::testing::HasSubstr("1 session makes about"));
  EXPECT_THAT(text, ::testing::HasSubstr("if the step runs once"));
  EXPECT_THAT(text, ::testing::HasSubstr("1 agent started here"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("all 1 steps")));
}

}  // namespace
}  // namespace plimsoll
