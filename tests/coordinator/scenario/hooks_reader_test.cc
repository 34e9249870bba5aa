// The sections `hooks` and `window`.
#include "coordinator/scenario/hooks_reader.h"

#include "coordinator/scenario/scenario_reader.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

std::string With(const std::string& more) {
  return "name: m\ntarget: {url: \"http://h/v1\", model: x}\ncorpus: {file: a.corpus}\n"
         "mix: {heavy: 25%, light: 75%}\nsweep: {sessions: [2, 4]}\nfleet: {local: 2}\n"
         "bar: {errors: 2%}\n" +
         more;
}

Scenario Read(const std::string& text) {
  auto read = ParseScenario(text, "s.yaml", "runs/here");
  EXPECT_TRUE(read.ok()) << MessageOf(read.status());
  return read.ok() ? *std::move(read) : Scenario{};
}

std::string ProblemsOf(const std::string& more) {
  Problems problems("s.yaml");
  (void)ReadScenario(With(more), "", problems);
  std::string all;
  for (const std::string& line : problems.Lines()) all += line + "\n";
  return all;
}

TEST(HooksReader, WithoutTheSectionsThereAreNone) {
  const Scenario scenario = Read(With(""));
  EXPECT_EQ(scenario.hooks, RunHooks{});
  EXPECT_EQ(scenario.window, ScenarioWindow{});
}

TEST(HooksReader, EveryKey) {
  const Scenario scenario =
      Read(With("window: 2h\n"
                "hooks:\n"
                "  rollout: {run: [hooks/apply, recipe.yaml], deadline: 20m, env: {NS: models}}\n"
                "  promote: {shell: \"kubectl label md x live=yes\", tries: 2}\n"
                "  grace: 3s\n"
                "  rollback: {run: [hooks/rollback], deadline: 90s, tries: 5}\n"));
  EXPECT_EQ(scenario.window, (ScenarioWindow{.length = 2h, .between = ""}));
  const HookSpec& rollout = scenario.hooks.rollout;
  EXPECT_THAT(rollout.argv, ElementsAre("hooks/apply", "recipe.yaml"));
  EXPECT_EQ(rollout.directory, "runs/here");
  EXPECT_EQ(rollout.deadline, Duration(20min));
  EXPECT_EQ(rollout.tries, 1u);
  EXPECT_THAT(rollout.env, ElementsAre(Pair("NS", "models")));
  EXPECT_TRUE(scenario.hooks.promote.shell);
  EXPECT_THAT(scenario.hooks.promote.argv, ElementsAre("kubectl label md x live=yes"));
  EXPECT_EQ(scenario.hooks.promote.tries, 2u);
  EXPECT_EQ(scenario.hooks.rollback.tries, 5u);
  EXPECT_EQ(scenario.guardian_grace, Duration(3s));
  const Scenario brief =
      Read(With("hooks: {rollback: [./back.sh, x]}\n"
                "window: {length: 90m, between: \"22:00-06:00 Europe/Berlin\"}\n"));
  EXPECT_THAT(brief.hooks.rollback.argv, ElementsAre("./back.sh", "x"));
  EXPECT_EQ(brief.hooks.rollback.tries, 3u);
  EXPECT_EQ(brief.window,
            (ScenarioWindow{.length = 90min, .between = "22:00-06:00 Europe/Berlin"}));
}

TEST(HooksReader, WhatIsWrongIsSaidWithWhatToWrite) {
  const std::string back = ", rollback: {run: [b]}}\n";
  EXPECT_THAT(ProblemsOf("hooks: {rollout: {deadline: 1m}" + back),
              HasSubstr("hooks.rollout.run: is missing, write e.g."));
  EXPECT_THAT(ProblemsOf("hooks: {rollout: {run: [a], shell: b}" + back),
              HasSubstr("a hook is one program"));
  EXPECT_THAT(ProblemsOf("hooks: {rollout: {run: []}" + back), HasSubstr("names no program"));
  EXPECT_THAT(ProblemsOf("hooks: {rollout: {run: [a], deadline: 0s}" + back),
              HasSubstr("must be above zero"));
  EXPECT_THAT(ProblemsOf("hooks: {rollout: {run: [a], tries: 0}" + back),
              HasSubstr("hooks.rollout.tries: is 0"));
  EXPECT_THAT(ProblemsOf("hooks: {rollout: {run: [a], env: {PLIMSOLL_RUN_ID: x}}" + back),
              HasSubstr("take another name"));
  EXPECT_THAT(ProblemsOf("hooks: {rollout: {run: [a], env: {1X: x}}" + back),
              HasSubstr("is no name of a variable"));
  EXPECT_THAT(ProblemsOf("hooks: {rollout: {run: [a]}}\n"),
              HasSubstr("nothing takes it down again"));
  EXPECT_THAT(ProblemsOf("hooks: {roll_out: {run: [a]}" + back), HasSubstr("rollout"));
  EXPECT_THAT(ProblemsOf("hooks: {grace: 2h}\n"), HasSubstr("at most 1h"));
  EXPECT_THAT(ProblemsOf("window: 0s\n"), HasSubstr("window: is 0s"));
  EXPECT_THAT(ProblemsOf("window: 25h\n"), HasSubstr("at most 24h"));
}

}  // namespace
}  // namespace plimsoll
