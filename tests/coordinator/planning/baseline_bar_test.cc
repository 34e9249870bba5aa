// Limits relative to baseline runs: their values and intervals by hand, and every run that is
// unfit.
#include "coordinator/planning/baseline_bar.h"

#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Limit Relative(Metric metric, double quantile, double factor, std::string tier = "") {
  return {.metric = metric,
          .quantile = quantile,
          .tier = std::move(tier),
          .origin = LimitOrigin{.runs = {"a", "b"}, .sessions = 10, .factor = factor}};
}

Scenario AScenario() {
  Scenario s;
  s.mix = {{"heavy", Tier::kHeavy, 1}, {"light", Tier::kLight, 1}};
  s.bar.limits = {Relative(Metric::kTtft, 0.9, 1.1), {Metric::kErrors, 0, 0.02}};
  return s;
}

// A step of two lanes, heavy and light, with 50 calls each: all of the same TTFT and speed.
BaselineStep AStep(double heavy_s, double light_s) {
  BaselineStep step;
  step.summary.plan.sessions = 10;
  step.summary.verdict.sent_share = 1;
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    Cell cell;
    cell.counts = {.lane = lane, .tier = static_cast<std::uint8_t>(lane)};
    cell.counts.ttft_n = cell.counts.rate_n = cell.counts.answer_n = cell.counts.attempts = 50;
    const auto ns = static_cast<std::int64_t>((lane == 0 ? heavy_s : light_s) * 1e9);
    for (int i = 0; i < 50; ++i) {
      cell.ttft_ns.Record(ns);
      cell.answer_ns.Record(10 * ns);
      cell.rate_mtok_s.Record(400);  // Below 512 a bucket is a single value.
    }
    step.cells.push_back(cell);
  }
  return step;
}

BaselineRun ARun(const std::string& id, double heavy_s, double light_s = 1) {
  BaselineRun run{.id = id, .corpus_digest = "c", .scenario = AScenario()};
  run.sessions = {5, 10};
  run.steps = {AStep(heavy_s, light_s)};
  return run;
}

std::string WrongOf(const Scenario& scenario, const std::vector<BaselineRun>& runs) {
  const auto bar = ResolveBar(scenario, "c", runs);
  EXPECT_TRUE(absl::IsInvalidArgument(bar.status())) << bar.status();
  return std::string(bar.status().message());
}

TEST(ResolveBar, OneRunGivesAValueWithoutAnInterval) {
  const auto bar = ResolveBar(AScenario(), "c", {ARun("a-1", 4)});
  ASSERT_TRUE(bar.ok()) << bar.status();
  const Limit& limit = bar->limits[0];
  EXPECT_NEAR(limit.value, 4.4, 1e-9) << "the slower half decides the P90";
  EXPECT_THAT(limit.origin->runs, ElementsAre("a-1")) << "whole ids, not what was typed";
  EXPECT_NEAR(limit.origin->baseline, 4, 1e-9);
  EXPECT_FALSE(limit.origin->low.has_value());
  EXPECT_EQ(bar->limits[1], AScenario().bar.limits[1]) << "a number stays as it is";
  EXPECT_TRUE(BaselinesOf(*bar).runs.empty()) << "nothing is open any more";
  EXPECT_EQ(BaselinesOf(AScenario().bar).sessions, 10u);
}

TEST(ResolveBar, RunsAreAveragedAsLogsAndTheirSpreadIsAnInterval) {
  const auto bar = ResolveBar(AScenario(), "c", {ARun("a", 2), ARun("b", 4), ARun("c", 8)});
  ASSERT_TRUE(bar.ok()) << bar.status();
  const Limit& limit = bar->limits[0];
  EXPECT_NEAR(limit.origin->baseline, 4, 1e-9);
  EXPECT_NEAR(limit.value, 4.4, 1e-9);
  // Logs differ by ln 2: standard deviation ln 2, of the mean ln 2 / √3; t(2) is 4.3027.
  const double half = 4.302652729911275 * std::log(2) / std::sqrt(3);
  EXPECT_NEAR(*limit.origin->low, 4.4 * std::exp(-half), 1e-6);
  EXPECT_NEAR(*limit.origin->high, 4.4 * std::exp(half), 1e-6);
}

TEST(ResolveBar, RunsThatAgreeLeaveNoDoubt) {
  const auto bar = ResolveBar(AScenario(), "c", {ARun("a", 4), ARun("b", 4)});
  ASSERT_TRUE(bar.ok()) << bar.status();
  EXPECT_NEAR(*bar->limits[0].origin->low, 4.4, 1e-9);
  EXPECT_NEAR(*bar->limits[0].origin->high, 4.4, 1e-9);
}

TEST(ResolveBar, EveryMetricAndTierHasItsOwnValue) {
  Scenario s = AScenario();
  s.bar.limits = {
      Relative(Metric::kTtft, 0.9, 1, "light"), Relative(Metric::kInteractivity, 0.9, 0.8),
      Relative(Metric::kGoodput, 0.5, 2, "heavy"), Relative(Metric::kErrors, 0, 1.5, "heavy")};
  BaselineRun run = ARun("a", 4, 1);
  run.steps[0].cells[0].counts.failed = 3;
  run.steps[0].cells[0].counts.unsent = 2;  // 5 of 52.
  const auto bar = ResolveBar(s, "c", {run});
  ASSERT_TRUE(bar.ok()) << bar.status();
  EXPECT_NEAR(bar->limits[0].value, 1, 1e-9);
  EXPECT_NEAR(bar->limits[1].value, 0.32, 1e-9);
  EXPECT_NEAR(bar->limits[2].value, 80, 1e-9);
  EXPECT_NEAR(bar->limits[3].value, 1.5 * 5 / 52, 1e-9);
}

TEST(ResolveBar, ARepeatStandsInForAVoidStep) {
  BaselineRun run = ARun("a", 100);
  run.steps[0].summary.verdict.is_void = true;
  run.steps.push_back(AStep(4, 1));
  run.steps.push_back(AStep(100, 1));
  run.steps[2].summary.verdict.is_void = true;  // Such as one that was stopped.
  EXPECT_NEAR(ResolveBar(AScenario(), "c", {run})->limits[0].value, 4.4, 1e-9);
}

TEST(ResolveBar, AStepThatWasFailedEarlyIsOnlyAPartOfOne) {
  BaselineRun run = ARun("a-1", 4);
  run.steps[0].summary.origin.failed_early_after = 3;
  EXPECT_THAT(WrongOf(AScenario(), {run}), HasSubstr("was failed early at 10 sessions"));
}

TEST(ResolveBar, FailedCallsCountAsTheyDoInAVerdict) {
  BaselineRun run = ARun("a", 4);
  run.steps[0].cells[1].counts.ttft_n = 54;  // 4 of 104 without a token.
  EXPECT_NEAR(ResolveBar(AScenario(), "c", {run})->limits[0].value, 4.4, 1e-9);
  run.steps[0].cells[1].counts.ttft_n = 70;
  EXPECT_THAT(WrongOf(AScenario(), {run}),
              HasSubstr("bar.ttft_p90: baseline run a has it among its failed calls"));
}

TEST(ResolveBar, RunsOfSeveralDeploymentsAreNotAveraged) {
  BaselineRun a = ARun("a", 4);
  BaselineRun b = ARun("b", 4);
  BaselineRun c = ARun("c", 4);
  b.scenario.target.model = "other";
  EXPECT_THAT(WrongOf(AScenario(), {a, b}),
              HasSubstr("baseline run b is of another model (other)"));
  b.scenario.target.model.clear();
  b.recipe = {"d1", "d2"};
  c.recipe = {"d1", "d3"};
  EXPECT_THAT(WrongOf(AScenario(), {a, b, c}),
              HasSubstr("baseline run c is of another recipe than run b"))
      << "also behind one without a recipe";
  EXPECT_THAT(BaselineDoubts({a, b, c}), ElementsAre(HasSubstr("baseline run a,")));
  EXPECT_THAT(BaselineDoubts({b, c}), ::testing::IsEmpty());
  EXPECT_THAT(BaselineDoubts({a}), ::testing::IsEmpty());
  c.recipe = b.recipe;
  EXPECT_TRUE(ResolveBar(AScenario(), "c", {a, b, c}).ok());
  // Today's model need not be the candidate's.
  a.scenario.target.model = "today";
  EXPECT_TRUE(ResolveBar(AScenario(), "c", {a}).ok());
}

TEST(ResolveBar, UnfitRunsAreNamedWithWhatToDo) {
  const struct {
    void (*change)(BaselineRun&);
    const char* words;
  } cases[] = {
      {[](BaselineRun& r) { r.corpus_digest = "d"; },
       "baseline run a was measured on another corpus; run the baseline on this scenario's"},
      {[](BaselineRun& r) { r.scenario.mix[0].share = 3; },
       "has another mix (heavy 75%, light 25%, here heavy 50%, light 50%)"},
      {[](BaselineRun& r) { r.scenario.replay.output_divisor = 2; },
       "replays its sessions otherwise"},
      {[](BaselineRun& r) { r.scenario.target.tools = true; }, "replays its sessions otherwise"},
      {[](BaselineRun& r) { r.scenario.sweep.warm_up = 30s; },
       "comes to its steps otherwise (warm_up 30s, here 2m; between_steps keep, here keep)"},
      {[](BaselineRun& r) { r.scenario.sweep.drain_between_steps = true; },
       "between_steps drain, here keep); run the baseline as this scenario does"},
      {[](BaselineRun& r) { r.steps.clear(); },
       "was not measured at 10 sessions (it has 5, 10); name a step that it has"},
      {[](BaselineRun& r) {
         r.steps[0].summary.verdict.is_void = true;
         r.steps[0].summary.verdict.reasons = {"agent x was lost"};
       },
       "has no data at 10 sessions (agent x was lost); run the baseline again"},
      {[](BaselineRun& r) { r.steps[0].summary.verdict.sent_share = 0.8; },
       "sent only 80.0% of its load at 10 sessions"},
      {[](BaselineRun& r) { r.steps[0].summary.verdict.sent_share = std::nan(""); }, "sent only"},
      {[](BaselineRun& r) { r.steps[0].cells.clear(); },
       "bar.ttft_p90: baseline run a has 0 calls for it, at least 36 are needed"},
  };
  for (const auto& c : cases) {
    BaselineRun run = ARun("a", 4);
    c.change(run);
    EXPECT_THAT(WrongOf(AScenario(), {run}), HasSubstr(c.words));
  }
  Scenario errors = AScenario();
  errors.bar.limits = {Relative(Metric::kErrors, 0, 1.1), Relative(Metric::kToolCalls, 0, 1.1)};
  EXPECT_THAT(WrongOf(errors, {ARun("a", 4)}),
              HasSubstr("bar.errors: baseline run a has none in all of its calls"));
  EXPECT_THAT(WrongOf(errors, {ARun("a", 4)}),
              HasSubstr("bar.tool_calls: baseline run a has nothing to count"));
  BaselineRun broken = ARun("a", 4);
  for (Cell& cell : broken.steps[0].cells) cell.counts.failed = 50;
  errors.bar.limits.pop_back();
  EXPECT_THAT(WrongOf(errors, {broken}), HasSubstr("comes to 110%, which nothing can miss"));
  EXPECT_THAT(WrongOf(AScenario(), {}), HasSubstr("names no run"));
  // All at once.
  BaselineRun other = ARun("b", 4);
  other.corpus_digest = "d";
  broken = ARun("a", 4);
  broken.steps.clear();
  EXPECT_THAT(WrongOf(AScenario(), {broken, other}),
              ::testing::AllOf(HasSubstr("baseline run a was not"), HasSubstr("\nbaseline run b")));
}

}  // namespace
}  // namespace plimsoll
