// What `check` says of evals, and how the mini run is shared out.
#include "coordinator/planning/eval_plan.h"

#include "coordinator/judge/step_origin.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr char kSet[] =
    R"({"id":"a","kind":"sum","prompt":"1 + 1?","expect":{"number":2},"reference":"2"})"
    "\n"
    R"({"id":"b","kind":"word","prompt":"Say yes.","expect":{"exact":"yes"},"reference":"yes"})";

TEST(EvalPlan, TheMiniRunIsAFewAtOnceOverTheWholeFleet) {
  const EvalsSpec spec;
  for (const std::uint32_t agents : {1u, 2u, 3u, 4u, 9u, 500u}) {
    const MiniRunSettings mini = MakeMiniRun(spec, agents);
    EXPECT_EQ(mini.askers, std::min(agents, 4u));
    EXPECT_GE(mini.at_once, 1u);
    EXPECT_LE(mini.askers * mini.at_once, kMiniRunAtOnce);
    EXPECT_EQ(mini.limit, spec.mini_run_limit);
  }
}

TEST(EvalPlan, CarriesTheTextAndTheSettings) {
  const EvalPlan plan =
      MakeEvalPlan({.share = 0.05, .repeats = 3, .deadline = Duration(9s)}, "text");
  EXPECT_EQ(plan,
            (EvalPlan{.set_text = "text", .share = 0.05, .repeats = 3, .deadline = Duration(9s)}));
}

TEST(EvalLines, SayHowManyAnswersEachStepGetsAndHowBadItMustBe) {
  Scenario scenario;
  scenario.evals = EvalsSpec{};
  scenario.bar.evals.pass_rate = 0.9;
  const auto set = ReadEvalSet("t", kSet);
  ASSERT_TRUE(set.ok()) << set.status();
  DryPlan dry;
  dry.steps = {{.ladder = kMixLadder, .sessions = 5, .requests = 900, .requests_at_bar = 360},
               {.ladder = "light", .sessions = 10, .requests = 1800, .requests_at_bar = 1800},
               {.ladder = kMixLadder, .sessions = 1, .requests = 9, .requests_at_bar = 9}};
  const std::vector<std::string> lines = EvalLines(scenario, *set, "basic", dry);
  EXPECT_THAT(lines[0], HasSubstr("basic: 2 cases of 2 kinds"));
  EXPECT_THAT(lines[0], HasSubstr("10% of all requests"));
  EXPECT_THAT(lines[1], HasSubstr("without load: 2 answers, at most 4 at once"));
  // docs/evals.md has the table: of 40 answers 31 right fail 90%, of 200 they are 170.
  EXPECT_THAT(lines, Contains(HasSubstr("5 sessions: 40 to 100 answers, of which 31 right or fewer "
                                        "are a fail of 90%")));
  EXPECT_THAT(lines, Contains(HasSubstr("10 sessions of light alone: 200 answers, of which 170")));
  EXPECT_THAT(lines, Contains(HasSubstr("1 sessions: 1 answers, so few that none is a fail")))
      << "one wrong of one: the interval ends at 97.5%";
  scenario.bar.evals.pass_rate = 0.99;
  EXPECT_THAT(EvalLines(scenario, *set, "basic", dry),
              Contains(HasSubstr("1 answers, of which 0 right or fewer are a fail of 99%")));
  scenario.bar.evals = {};
  EXPECT_THAT(EvalLines(scenario, *set, "basic", dry),
              Contains(HasSubstr("the bar asks nothing of them")));
  EXPECT_THAT(EvalLines(scenario, *set, "basic", dry), Not(Contains(HasSubstr("a fail of"))));
}

}  // namespace
}  // namespace plimsoll
