// The length that one call asks for: never none, which a server refuses, and never over the cap.
#include "common/plan/output_length.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

RunPlan PlanOf(OutputMode mode) {
  RunPlan plan;
  plan.output_mode = mode;
  plan.target.max_tokens = 100;
  return plan;
}

TEST(OutputLength, ARecordedAnswerOfNothingAsksForOneToken) {
  const OutputAsk none = AskFor(PlanOf(OutputMode::kRecorded), 0);
  EXPECT_EQ(none.max_tokens, 1u);
  EXPECT_EQ(none.asked, 1u);
  RunPlan divided = PlanOf(OutputMode::kRecorded);
  divided.output_divisor = 50;
  EXPECT_EQ(AskFor(divided, 49).max_tokens, 1u) << "divided to nothing";
  EXPECT_EQ(AskFor(divided, 150).max_tokens, 3u);
}

TEST(OutputLength, IsCappedAndEveryModeHasACap) {
  EXPECT_EQ(AskFor(PlanOf(OutputMode::kRecorded), 101).max_tokens, 100u);
  EXPECT_EQ(AskFor(PlanOf(OutputMode::kRecorded), 7).max_tokens, 7u);
  EXPECT_EQ(AskFor(PlanOf(OutputMode::kFree), 7), (OutputAsk{.max_tokens = 100}));
  RunPlan fixed = PlanOf(OutputMode::kFixed);
  fixed.output_tokens = 0;
  EXPECT_EQ(AskFor(fixed, 7).max_tokens, 1u);
  RunPlan uncapped = PlanOf(OutputMode::kFree);
  uncapped.target.max_tokens = 0;
  EXPECT_EQ(AskFor(uncapped, 7).max_tokens, 1u);
}

}  // namespace
}  // namespace plimsoll
