// Costs against numbers worked out by hand, and what is missing.
#include "coordinator/judge/cost.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

// 4 nodes at 14.40 USD: 57.60 USD an hour.
CostSettings FourNodes() {
  return {.nodes = 4, .micros = 14'400'000, .currency = "USD"};
}

// 15 sessions over 6 minutes, a tenth of an hour: 1.2 M tokens in, 0.9 M of them cached, 0.1 M out;
// so 12, 9, 3 and 1 M an hour.
StepSummary AStep(std::uint32_t sessions = 15) {
  StepSummary s;
  s.plan = {.sessions = sessions, .measure = 6min, .block = 1min};
  s.verdict.verdict = Verdict::kPass;
  s.errors.attempts = s.errors.ok = 400;
  s.tokens_in = 1'200'000;
  s.tokens_cached = 900'000;
  s.tokens_out = 100'000;
  s.fidelity.prompt_n = s.fidelity.cached_n = s.fidelity.tokens_out_n = 400;
  return s;
}

double Of(const Figure& figure) {
  EXPECT_EQ(figure.why_not, "");
  return figure.value.value_or(std::numeric_limits<double>::quiet_NaN());
}

void ExpectNone(const Figure& figure, const std::string& why) {
  EXPECT_FALSE(figure.value.has_value()) << *figure.value;
  EXPECT_THAT(figure.why_not, HasSubstr(why));
}

TEST(Cost, IsTheHourlyPriceByWhatAnHourCarried) {
  const Cost cost = CostOfStep(AStep(), FourNodes());
  EXPECT_DOUBLE_EQ(Of(cost.per_session_hour), 57.6 / 15);
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_hour.all), 13);
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_hour.cached), 9);
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_hour.uncached), 3);
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_hour.out), 1);
  EXPECT_DOUBLE_EQ(Of(cost.per_mtok.all), 57.6 / 13);
  EXPECT_DOUBLE_EQ(Of(cost.per_mtok.cached), 6.4);
  EXPECT_DOUBLE_EQ(Of(cost.per_mtok.uncached), 19.2);
  EXPECT_DOUBLE_EQ(Of(cost.per_mtok.out), 57.6);
  EXPECT_DOUBLE_EQ(Of(cost.sessions_per_node), 3.75);
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_node_hour), 3.25);
  EXPECT_EQ(cost.sessions, 15u);
}

TEST(Cost, OfAStepThatWasFailedEarlyTokensAreOfTheTimeThatWasMeasured) {
  StepSummary step = AStep();
  step.plan.measure = 15min;  // Planned; the 1.3 M tokens came in six minutes of it.
  step.origin.failed_early_after = 6;
  step.origin.measured = 6min;
  const Cost cost = CostOfStep(step, FourNodes());
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_hour.all), 13);
  EXPECT_DOUBLE_EQ(Of(cost.per_mtok.out), 57.6);
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_node_hour), 3.25);
  step.origin.measured = Duration(0);
  ExpectNone(CostOfStep(step, FourNodes()).per_mtok.all, "nothing was measured");
}

TEST(Cost, WithoutAPriceTokensAndSessionsAreStillKnown) {
  const Cost cost = CostOfStep(AStep(), std::nullopt);
  ExpectNone(cost.per_session_hour, "names no price");
  ExpectNone(cost.per_mtok.all, "names no price");
  ExpectNone(cost.sessions_per_node, "names no nodes");
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_hour.all), 13);
}

TEST(Cost, UsageThatIsMissingIsNoDataAndNeverZero) {
  StepSummary step = AStep();
  step.tokens_cached.reset();
  step.fidelity.cached_n = 0;
  Cost cost = CostOfStep(step, FourNodes());
  ExpectNone(cost.per_mtok.cached, "no cached tokens");
  ExpectNone(cost.per_mtok.uncached, "no cached tokens");
  EXPECT_DOUBLE_EQ(Of(cost.per_mtok.all), 57.6 / 13) << "the split is unknown, the sum is not";

  step.tokens_in.reset();
  step.fidelity.prompt_n = 0;
  cost = CostOfStep(step, FourNodes());
  ExpectNone(cost.per_mtok.all, "no prompt tokens");
  ExpectNone(cost.per_mtok.uncached, "no prompt tokens");
  EXPECT_DOUBLE_EQ(Of(cost.per_mtok.out), 57.6);

  step.tokens_out.reset();
  step.usage_missing = 400;
  cost = CostOfStep(step, FourNodes());
  ExpectNone(cost.per_mtok.out, "no output tokens");
  EXPECT_DOUBLE_EQ(Of(cost.per_session_hour), 3.84);
}

TEST(Cost, ASumThatMissesOverAHundredthOfTheCallsIsNone) {
  StepSummary step = AStep();
  step.usage_missing = 4;  // 1%: as much as the judge lets pass.
  step.fidelity.prompt_n = 396;
  step.fidelity.cached_n = 393;
  EXPECT_DOUBLE_EQ(Of(CostOfStep(step, FourNodes()).per_mtok.out), 57.6);
  EXPECT_DOUBLE_EQ(Of(CostOfStep(step, FourNodes()).per_mtok.cached), 6.4);
  step.usage_missing = 5;
  ExpectNone(CostOfStep(step, FourNodes()).per_mtok.out, "5 of 400 calls do not report output");
  ExpectNone(CostOfStep(step, FourNodes()).per_mtok.all, "output tokens");
  step.fidelity.prompt_n = 300;
  ExpectNone(CostOfStep(step, FourNodes()).per_mtok.all, "100 of 400 calls do not report prompt");
  step.fidelity.prompt_n = 400;
  step.fidelity.cached_n = 200;
  ExpectNone(CostOfStep(step, FourNodes()).per_mtok.cached, "200 of 400 calls");
}

TEST(Cost, WhatIsReportedAsZeroHasNoPriceAlone) {
  StepSummary step = AStep();
  step.tokens_cached = 0;
  const Cost cost = CostOfStep(step, FourNodes());
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_hour.cached), 0);
  ExpectNone(cost.per_mtok.cached, "none of them");
  EXPECT_DOUBLE_EQ(Of(cost.per_mtok.uncached), 4.8);
}

TEST(Cost, CountsThatContradictEachOtherAreNoData) {
  StepSummary step = AStep();
  step.tokens_cached = 1'200'001;
  const Cost cost = CostOfStep(step, FourNodes());
  ExpectNone(cost.per_mtok.cached, "more cached tokens than prompt tokens");
  ExpectNone(cost.per_mtok.uncached, "more cached tokens than prompt tokens");
  EXPECT_TRUE(cost.per_mtok.all.value.has_value());
}

TEST(Cost, HostileNumbersGiveNoInfinity) {
  StepSummary step = AStep(0);
  step.plan.measure = Duration(0);
  Cost cost = CostOfStep(step, FourNodes());
  ExpectNone(cost.per_session_hour, "no session");
  ExpectNone(cost.per_mtok.all, "nothing was measured");
  cost = CostOfStep(AStep(), CostSettings{.nodes = 0, .micros = 5, .currency = "USD"});
  ExpectNone(cost.sessions_per_node, "no nodes");
  ExpectNone(cost.per_session_hour, "no price");
  step = AStep();
  step.tokens_in = step.tokens_cached = std::numeric_limits<std::uint64_t>::max();
  for (const auto& [name, figure] : FiguresOf(CostOfStep(step, FourNodes()))) {
    EXPECT_TRUE(std::isfinite(figure.value.value_or(0))) << name;
  }
}

TEST(Cost, OfARunIsThatOfTheLastStepThatHeld) {
  StepSummary ten = AStep(10);
  StepSummary again = AStep(10);
  again.tokens_out = 200'000;
  StepSummary more = AStep(15);
  more.verdict.verdict = Verdict::kFail;
  StepSummary late = AStep(20);
  const std::vector<const StepSummary*> steps = {&ten, &again, &more, &late};
  const Capacity capacity{.passed = 10, .failed = 15};
  const Cost cost = CostOfRun(steps, capacity, FourNodes());
  EXPECT_EQ(cost.sessions, 10u);
  EXPECT_DOUBLE_EQ(Of(cost.per_session_hour), 5.76);
  EXPECT_DOUBLE_EQ(Of(cost.mtok_per_hour.out), 2) << "the later of the two";

  const Cost none = CostOfRun(steps, Capacity{}, FourNodes());
  EXPECT_FALSE(none.sessions.has_value());
  for (const auto& [name, figure] : FiguresOf(none)) ExpectNone(figure, "no step held");
  ExpectNone(CostOfRun({}, capacity, FourNodes()).per_session_hour, "no step held");
}

}  // namespace
}  // namespace plimsoll
