// What length of answer a call asks for: never nothing, never more than the target's cap.
#include "common/plan/output_length.h"

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

RunPlan PlanOf(OutputMode mode, std::uint32_t cap = 1000) {
  RunPlan plan;
  plan.output_mode = mode;
  plan.target.max_tokens = cap;
  plan.target.min_tokens_accepted = plan.target.ignore_eos_accepted = true;
  return plan;
}

TEST(OutputLength, ARecordedAnswerOfNothingAsksForOneToken) {
  RunPlan plan = PlanOf(OutputMode::kRecorded);
  const OutputAsk one{.max_tokens = 1, .asked = 1, .min_tokens = true, .ignore_eos = true};
  EXPECT_EQ(AskFor(plan, 0), one);
  EXPECT_EQ(AskFor(plan, 1), one);
  plan.output_divisor = 50;
  EXPECT_EQ(AskFor(plan, 49), one) << "divided to nothing";
  EXPECT_EQ(AskFor(plan, 100).asked, 2u);
  plan.output_divisor = 0;
  EXPECT_EQ(AskFor(plan, 7).asked, 7u);
}

TEST(OutputLength, TheTargetsCapIsNeverPassed) {
  const RunPlan plan = PlanOf(OutputMode::kRecorded, 64);
  EXPECT_EQ(AskFor(plan, 65).asked, 64u);
  EXPECT_EQ(AskFor(plan, 65).max_tokens, 64u);
  RunPlan fixed = PlanOf(OutputMode::kFixed, 64);
  fixed.output_tokens = 300;
  EXPECT_EQ(AskFor(fixed, 5).asked, 64u);
  fixed.output_tokens = 30;
  EXPECT_EQ(AskFor(fixed, 5).asked, 30u);
}

TEST(OutputLength, WhatIsLeftToTheModelHasACapAndNoSwitches) {
  EXPECT_EQ(AskFor(PlanOf(OutputMode::kFree, 64), 0), (OutputAsk{.max_tokens = 64}));
  EXPECT_EQ(AskFor(PlanOf(OutputMode::kFree, 0), 9).max_tokens, 1u);
}

}  // namespace
}  // namespace plimsoll
