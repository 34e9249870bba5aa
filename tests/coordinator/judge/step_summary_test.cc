#include "coordinator/judge/step_summary.h"

#include <gtest/gtest.h>

#include "coordinator/judge/judge_step.h"
#include "tests/coordinator/judge/evidence_builder.h"

namespace plimsoll {
namespace {

TEST(Summarize, GivesPeopleUnits) {
  StepEvidence e = testing::Healthy();
  e.cells[0].failed = 6;
  e.cells[0].unsent = 40;
  e.outcomes[static_cast<std::size_t>(Outcome::kRefused)] = 6;
  e.outcomes[static_cast<std::size_t>(Outcome::kOk)] = 594;
  const StepSummary s = Summarize(e, JudgeStep(e, testing::DefaultBar()));
  EXPECT_EQ(s.ttft.n, 600u);
  EXPECT_NEAR(s.ttft.p50_s.value.value(), 3.08, 3.08 / 256);
  EXPECT_EQ(s.rate.n, 550u);
  EXPECT_EQ(s.rate.one_chunk, 50u);
  EXPECT_NEAR(s.rate.reached_by_90_tok_s.value(), 18.0, 0.1);
  EXPECT_NEAR(s.errors.error_share.value(), 46.0 / 640, 1e-12);
  EXPECT_EQ(s.errors.ok, 594u);
  EXPECT_NEAR(s.calls_ok_per_s.value(), 594 / 300.0, 1e-9);
  EXPECT_NEAR(s.lane_state_share[0], 0.97, 1e-9);
  EXPECT_EQ(s.plan.sessions, 10u);
}

TEST(Summarize, FailuresMoveThePercentilesAndStandBeside) {
  StepEvidence e = testing::Healthy();
  e.ttft_infinite = 100;
  e.rate_zero = 100;
  const StepSummary s = Summarize(e, {});
  EXPECT_TRUE(s.ttft.p90_s.infinite);
  EXPECT_FALSE(s.ttft.p90_s.value.has_value());
  EXPECT_TRUE(s.ttft.p90_ok_s.value.has_value());
  EXPECT_EQ(s.rate.reached_by_90_tok_s, 0);
  EXPECT_GT(s.rate.reached_by_90_ok_tok_s.value(), 0);
}

TEST(Summarize, WhatIsMissingStaysAbsent) {
  const StepSummary s = Summarize({}, {});
  EXPECT_FALSE(s.ttft.p50_s.value.has_value());
  EXPECT_FALSE(s.ttft.p50_s.infinite);
  EXPECT_FALSE(s.rate.reached_by_90_tok_s.has_value());
  EXPECT_FALSE(s.errors.error_share.has_value());
  EXPECT_FALSE(s.calls_ok_per_s.has_value());
  EXPECT_FALSE(s.tokens_in.has_value());
  EXPECT_FALSE(s.tokens_cached.has_value());
  EXPECT_FALSE(s.tokens_out.has_value());
}

TEST(Summarize, ARateNeedsMeasuredTime) {
  const StepEvidence e = testing::Healthy();
  EXPECT_EQ(SummarizeBrokenOff(e, testing::DefaultBar(), 120s).calls_ok_per_s, 5);
  EXPECT_FALSE(SummarizeBrokenOff(e, testing::DefaultBar(), 0s).calls_ok_per_s.has_value());
}

TEST(Summarize, TalliesAreThereIfEveryAgentHasToldOfTheWholeStep) {
  StepEvidence e = testing::Healthy();
  const StepSummary whole = Summarize(e, {});
  EXPECT_TRUE(HasTallies(whole));
  EXPECT_TRUE(HasTally(whole, whole.agents[0]));
  const StepSummary stopped = SummarizeBrokenOff(e, testing::DefaultBar(), 120s);
  EXPECT_FALSE(HasTallies(stopped));
  EXPECT_FALSE(HasTally(stopped, stopped.agents[0]));
  e.agents.push_back({.slot = 1, .lost = true});
  e.agents.push_back({.slot = 2, .no_tally = true});
  const StepSummary partly = Summarize(e, {});
  EXPECT_FALSE(HasTallies(partly));
  EXPECT_TRUE(HasTally(partly, partly.agents[0]));
  EXPECT_FALSE(HasTally(partly, partly.agents[1]));
  EXPECT_FALSE(HasTally(partly, partly.agents[2]));
}

TEST(Summarize, WithholdsEveryPercentileThatTheCallsCannotCarry) {
  const auto of = [](int calls, int failed) {
    StepEvidence e;
    for (int i = 0; i < calls; ++i) {
      e.ttft_ns.Record(1'000'000'000);
      e.ttft_sent_ns.Record(1'000'000'000);
      e.rate_mtok_s.Record(10'000);
      e.end_to_end_rate_mtok_s.Record(8'000);
    }
    e.ttft_infinite = e.rate_zero = e.end_to_end_zero = static_cast<std::uint64_t>(failed);
    return Summarize(e, {});
  };
  const StepSummary five = of(5, 0);
  EXPECT_EQ(five.ttft.p50_s, ShownPercentile{});
  EXPECT_FALSE(five.rate.reached_by_50_tok_s.has_value());
  const StepSummary few = of(35, 0);
  EXPECT_TRUE(few.ttft.p50_s.value.has_value());
  EXPECT_EQ(few.ttft.p90_s, ShownPercentile{});
  EXPECT_EQ(few.ttft.p90_sent_s, ShownPercentile{});
  EXPECT_FALSE(few.rate.reached_by_90_tok_s.has_value());
  EXPECT_FALSE(few.rate.end_to_end_reached_by_90_tok_s.has_value());
  // Failed calls are calls, but not of the percentile without them.
  const StepSummary failed = of(35, 1);
  EXPECT_TRUE(failed.ttft.p90_s.value.has_value());
  EXPECT_EQ(failed.ttft.p90_ok_s, ShownPercentile{});
  EXPECT_TRUE(failed.rate.end_to_end_reached_by_90_tok_s.has_value());
  EXPECT_FALSE(failed.rate.reached_by_90_ok_tok_s.has_value());
}

}  // namespace
}  // namespace plimsoll
