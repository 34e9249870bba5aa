// Records of evals to counts: by step, block and kind of case, and against what agents say.
#include "coordinator/ingest/eval_ingest.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

const StepPlan kPlan{.step = 2, .sessions = 4, .measure = 60s, .block = 20s};

EvalRecord Record(std::uint32_t step, std::uint32_t block, std::uint32_t index,
                  EvalOutcome outcome) {
  return {.step = step,
          .case_index = index,
          .block = block,
          .call = outcome == EvalOutcome::kUnanswered ? Outcome::kRefused : Outcome::kOk,
          .outcome = outcome};
}

EvalIngest TwoKinds() {
  return EvalIngest({"sum", "tool"}, {0, 1, 1});
}

TEST(EvalIngest, CountsByBlockAndKindWhatWasAskedInTheMeasuredTime) {
  EvalIngest ingest = TwoKinds();
  ingest.BeginStep(kPlan);
  ingest.Add(Record(2, 0, 0, EvalOutcome::kPass));
  ingest.Add(Record(2, 0, 1, EvalOutcome::kWrong));
  ingest.Add(Record(2, 2, 2, EvalOutcome::kUnanswered));
  EvalRecord fault = Record(2, 2, 2, EvalOutcome::kToolFault);
  fault.tool_faults = 1u << static_cast<unsigned>(ToolFault::kUnknownTool);
  ingest.Add(fault);
  // None of these is this step's.
  ingest.Add(Record(2, kWarmUpBlock, 0, EvalOutcome::kWrong));
  ingest.Add(Record(2, kCoolDownBlock, 0, EvalOutcome::kWrong));
  ingest.Add(Record(1, 0, 0, EvalOutcome::kWrong));
  ingest.Add(Record(2, 3, 0, EvalOutcome::kWrong));
  ingest.Add(Record(2, 0, 3, EvalOutcome::kWrong));  // A case that the set does not have.
  const EvalEvidence& e = ingest.step();
  ASSERT_EQ(e.blocks.size(), 3u);
  EXPECT_EQ(e.blocks[0].passed(), 1u);
  EXPECT_EQ(e.blocks[0].judged(), 2u);
  EXPECT_EQ(e.blocks[1], EvalCounts{});
  EXPECT_EQ(e.blocks[2].judged(), 1u);
  EXPECT_EQ(Asked(e.total()), 4u);
  EXPECT_EQ(e.kinds[0].judged(), 1u);
  EXPECT_EQ(e.kinds[1].judged(), 2u);
  EXPECT_EQ(e.faults.of(ToolFault::kUnknownTool), 1u);
  EXPECT_EQ(ingest.mini_run().total(), EvalCounts{});
}

TEST(EvalIngest, TheMiniRunStaysWhileStepsComeAndGo) {
  EvalIngest ingest = TwoKinds();
  ingest.Add(Record(kEvalMiniRun, kWarmUpBlock, 1, EvalOutcome::kPass));
  ingest.BeginStep(kPlan);
  ingest.Add(Record(kEvalMiniRun, kWarmUpBlock, 2, EvalOutcome::kWrong));
  ingest.Add(Record(2, 1, 0, EvalOutcome::kPass));
  StepPlan next = kPlan;
  next.step = 3;
  ingest.BeginStep(next);
  EXPECT_EQ(ingest.mini_run().total().judged(), 2u);
  EXPECT_EQ(ingest.mini_run().kinds[1].passed(), 1u);
  EXPECT_EQ(ingest.step().total(), EvalCounts{});
}

TEST(EvalIngest, IdentitiesComparePartByPart) {
  EvalIngest ingest = TwoKinds();
  ingest.BeginStep(kPlan);
  ingest.Add(Record(2, 0, 0, EvalOutcome::kPass));
  ingest.Add(Record(2, 1, 0, EvalOutcome::kWrong));
  StepTally tally{.step = 2, .evals_asked = 2};
  tally.evals.Add(EvalOutcome::kPass);
  tally.evals.Add(EvalOutcome::kWrong);
  ingest.Add(tally);
  ingest.Add(StepTally{.step = 1, .evals_asked = 9});  // Another step's.
  for (const Identity& identity : ingest.Identities()) EXPECT_TRUE(identity.holds());
  ingest.Add(Record(2, 1, 0, EvalOutcome::kWrong));
  for (const Identity& identity : ingest.Identities()) EXPECT_FALSE(identity.holds());
  // As many, but judged otherwise.
  StepTally other{.step = 2, .evals_asked = 1};
  other.evals.Add(EvalOutcome::kEmpty);
  ingest.Add(other);
  EXPECT_TRUE(ingest.Identities()[0].holds());
  EXPECT_FALSE(ingest.Identities()[1].holds());
}

TEST(EvalIngest, WhatAStopHangsUpIsNoAnswer) {
  EvalIngest ingest = TwoKinds();
  ingest.BeginStep(kPlan);
  ingest.Add(Record(2, 0, 0, EvalOutcome::kPass));
  ingest.BreakOff();
  EvalRecord cut = Record(2, 0, 0, EvalOutcome::kUnanswered);
  cut.call = Outcome::kCut;
  ingest.Add(cut);
  EXPECT_EQ(Asked(ingest.step().total()), 1u);
}

TEST(EvalIngest, AnExtensionsBlocksFollowAndItsKindsAddUp) {
  EvalIngest ingest = TwoKinds();
  ingest.BeginStep(kPlan);
  ingest.Add(Record(2, 0, 0, EvalOutcome::kPass));
  const EvalEvidence first = ingest.step();
  StepPlan next = kPlan;
  next.step = 3;
  ingest.BeginStep(next);
  ingest.Add(Record(3, 1, 0, EvalOutcome::kWrong));
  const EvalEvidence joint = JoinEvals(first, ingest.step());
  ASSERT_EQ(joint.blocks.size(), 6u);
  EXPECT_EQ(joint.blocks[0].passed(), 1u);
  EXPECT_EQ(joint.blocks[4].judged(), 1u);
  EXPECT_EQ(joint.kinds[0].judged(), 2u);
}

}  // namespace
}  // namespace plimsoll
