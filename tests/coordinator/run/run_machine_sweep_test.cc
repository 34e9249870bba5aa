// The run machine's sweep: extensions, refinements, drains between steps, early ends, ladders.
#include <gmock/gmock.h>

#include "tests/coordinator/run/machine_rig.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

StepVerdict Close(Lean lean) {
  StepVerdict v = VerdictOf(Verdict::kTooClose);
  v.parts = {{.limit = {}, .verdict = Verdict::kTooClose, .lean = lean}};
  return v;
}

// A rig past the first common start, with `change` made to its settings.
struct SweepRig : MachineRig {
  explicit SweepRig(void (*change)(RunSettings&)) : MachineRig(Changed(change)) {}
  static RunSettings Changed(void (*change)(RunSettings&)) {
    RunSettings settings = Settings();
    change(settings);
    return settings;
  }
  const MachineState& state() const { return machine.state(); }
  // The running step is closed and judged, and the next one, if there is one, prepared.
  action::PrepareStep Judge(const StepVerdict& verdict, Duration elapsed = Duration{0}) {
    CloseAll();
    Feed(event::StepJudged{verdict, 1, elapsed});
    const auto prepared = Did<action::PrepareStep>();
    return prepared.empty() ? action::PrepareStep{} : prepared[0];
  }
};

TEST(RunMachineSweep, ACloseStepIsExtendedWithoutWarmUpOnTheSameLanes) {
  SweepRig rig([](RunSettings& s) { s.extend = true; });
  rig.ToStep();
  const action::PrepareStep next = rig.Judge(Close(Lean::kPass));
  EXPECT_EQ(next.plan.sessions, 5u);
  EXPECT_EQ(next.plan.step, 1u);
  EXPECT_EQ(next.plan.warm_up, Duration{0});
  EXPECT_EQ(next.plan.measure, Duration(60s));
  EXPECT_FALSE(next.fresh);
  EXPECT_THAT(next.note, HasSubstr("too close to call"));
  EXPECT_EQ(rig.state().origin.kind, StepKind::kExtension);
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(30s)) << "nothing is primed";
  rig.ReadyAll();
  EXPECT_EQ(rig.Judge(VerdictOf(Verdict::kPass)).plan.sessions, 10u);
  EXPECT_EQ(rig.state().origin.kind, StepKind::kPlanned);
  EXPECT_EQ(rig.state().history[1].origin.kind, StepKind::kExtension);
}

TEST(RunMachineSweep, AnExtensionOnANewAgentWarmsUpAfterAll) {
  SweepRig rig([](RunSettings& s) { s.extend = true; });
  rig.ToStep();
  rig.Judge(Close(Lean::kPass));
  rig.Feed(event::AgentLost{1, "reset"});
  rig.Feed(event::AgentReplaced{1});
  rig.Feed(event::RunReadyBy{1});
  ASSERT_EQ(rig.Did<action::PrepareStep>().size(), 1u);
  EXPECT_EQ(rig.Did<action::PrepareStep>()[0].plan.warm_up, Duration(10s));
  EXPECT_EQ(rig.Did<action::PrepareStep>()[0].plan.prime_limit, Duration(20s));
}

TEST(RunMachineSweep, WhatIsLeftOfTheBudgetGoesBetween) {
  SweepRig rig([](RunSettings& s) {
    s.refine = true;
    s.budget = 10min;
  });
  rig.ToStep();
  rig.Judge(VerdictOf(Verdict::kPass), 2min);
  rig.ReadyAll();
  const action::PrepareStep between = rig.Judge(VerdictOf(Verdict::kFail), 4min);
  EXPECT_EQ(between.plan.sessions, 7u);
  EXPECT_EQ(between.plan.warm_up, Duration(10s));
  EXPECT_FALSE(between.fresh) << "the first seven lanes go on";
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(80s)) << "three lanes drain first";
  rig.ReadyAll();
  // A refinement may take 152 s and the two seconds of its start.
  rig.Judge(VerdictOf(Verdict::kPass), 10min - 151s);
  EXPECT_EQ(rig.state().phase, RunPhase::kStop);
  EXPECT_THAT(rig.Said(), HasSubstr("too little for a step between"));
  EXPECT_EQ(rig.state().end_code, ExitCode::kMissed) << "the target's code";
}

TEST(RunMachineSweep, DrainBetweenStepsMakesEveryStepsLanesNew) {
  SweepRig rig([](RunSettings& s) {
    s.drain_between_steps = true;
    s.extend = true;
  });
  rig.ToStep();
  EXPECT_FALSE(rig.DidEver<action::PrepareStep>()[0].fresh);
  EXPECT_FALSE(rig.Judge(Close(Lean::kPass)).fresh) << "an extension is the same lanes";
  rig.ReadyAll();
  EXPECT_TRUE(rig.Judge(VerdictOf(Verdict::kNoData)).fresh);
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(30s + 20s + 30s));
}

TEST(RunMachineSweep, AFailedLookEndsTheMeasuredTimeOnce) {
  SweepRig rig([](RunSettings& s) { s.fail_early = true; });
  rig.ToStep();
  rig.Feed(event::LookFailed{7, 2, 42s, "another step's"});
  EXPECT_TRUE(rig.actions.empty());
  rig.Feed(event::LookFailed{0, 2, 42s, "P90 is 9 s"});
  ASSERT_EQ(rig.Did<action::EndMeasure>().size(), 1u);
  EXPECT_EQ(rig.Did<action::EndMeasure>()[0].measure, Duration(42s));
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(32s));
  EXPECT_THAT(rig.Said(), HasSubstr("P90 is 9 s"));
  rig.Feed(event::LookFailed{0, 3, 50s, "again"});
  EXPECT_TRUE(rig.actions.empty());
  rig.Judge(VerdictOf(Verdict::kFail));
  EXPECT_EQ(rig.state().history[0].origin.failed_early_after, 2u);
  EXPECT_EQ(rig.state().history[0].origin.measured, Duration(42s));
  rig.Feed(event::LookFailed{0, 3, 50s, "late"});
  EXPECT_TRUE(rig.actions.empty());
}

TEST(RunMachineSweep, WhatWasCutShortForNothingIsRepeatedWhole) {
  SweepRig rig([](RunSettings& s) { s.fail_early = true; });
  rig.ToStep();
  EXPECT_TRUE(rig.state().look);
  rig.Feed(event::LookFailed{0, 2, 42s, "P90 is 9 s"});
  rig.Judge(VerdictOf(Verdict::kNoData));
  EXPECT_FALSE(rig.state().look);
  EXPECT_EQ(rig.state().origin.kind, StepKind::kRepeat);
  EXPECT_FALSE(rig.state().origin.failed_early_after.has_value());
}

void TwoLadders(RunSettings& s) {
  s.tier_ladders = {{.name = "light", .tier = 1, .sessions = {5, 10}},
                    {.name = "heavy", .tier = 0, .sessions = {5}}};
}

TEST(RunMachineSweep, LaddersFollowTheMixOnNewLanesAndLeaveItsCodeAlone) {
  SweepRig rig(TwoLadders);
  rig.ToStep();
  rig.Judge(VerdictOf(Verdict::kPass));
  rig.ReadyAll();
  action::PrepareStep next = rig.Judge(VerdictOf(Verdict::kPass));
  EXPECT_EQ(next.plan.sessions, 5u);
  EXPECT_TRUE(next.fresh);
  EXPECT_EQ(rig.state().origin.ladder, "light");
  rig.ReadyAll();
  next = rig.Judge(VerdictOf(Verdict::kNoData));
  EXPECT_EQ(next.plan.sessions, 5u);
  EXPECT_FALSE(next.fresh) << "the repeat is on the ladder's own lanes";
  rig.ReadyAll();
  next = rig.Judge(VerdictOf(Verdict::kPass));
  EXPECT_EQ(next.plan.sessions, 10u);
  rig.ReadyAll();
  next = rig.Judge(Close(Lean::kFail));
  EXPECT_EQ(rig.state().origin.ladder, "heavy");
  EXPECT_TRUE(next.fresh);
  rig.ReadyAll();
  rig.Judge(VerdictOf(Verdict::kFail));
  EXPECT_EQ(rig.state().phase, RunPhase::kStop);
  EXPECT_EQ(rig.state().end_code, ExitCode::kHeld);
  EXPECT_THAT(rig.state().end_reason, HasSubstr("10 sessions hold"));
}

// Until nobody comes in its place.
void LoseForGood(SweepRig& rig) {
  rig.Feed(event::AgentLost{.slot = 1, .reason = "gone"});
  rig.Feed(event::DeadlinePassed{});
}

TEST(RunMachineSweep, AnAgentLostForGoodAfterTheMixLeavesItsCodeAndReason) {
  SweepRig rig(TwoLadders);
  rig.ToStep();
  rig.Judge(VerdictOf(Verdict::kPass));
  rig.ReadyAll();
  rig.Judge(VerdictOf(Verdict::kPass));
  ASSERT_EQ(rig.state().origin.ladder, "light");
  LoseForGood(rig);
  EXPECT_EQ(rig.state().end_code, ExitCode::kHeld) << rig.state().end_reason;
  EXPECT_THAT(rig.state().end_reason, HasSubstr("10 sessions hold"));
  EXPECT_THAT(rig.state().end_reason, HasSubstr("; then "));
}

TEST(RunMachineSweep, AnAgentLostForGoodInTheMixIsNoData) {
  SweepRig rig(TwoLadders);
  rig.ToStep();
  rig.Judge(VerdictOf(Verdict::kPass));
  LoseForGood(rig);
  EXPECT_EQ(rig.state().end_code, ExitCode::kNoData) << rig.state().end_reason;
}

TEST(RunMachineSweep, ALadderThatBeginsWithAMissEndsItselfAlone) {
  SweepRig rig(TwoLadders);
  rig.ToStep();
  rig.Judge(VerdictOf(Verdict::kPass));
  rig.ReadyAll();
  rig.Judge(VerdictOf(Verdict::kPass));
  rig.ReadyAll();
  rig.Judge(VerdictOf(Verdict::kFail));
  EXPECT_EQ(rig.state().origin.ladder, "heavy");
  EXPECT_EQ(rig.state().phase, RunPhase::kPrepareStep);
}

TEST(RunMachineSweep, AFirstStepThatFailsEndsTheRunWithoutFurtherLadders) {
  SweepRig rig(TwoLadders);
  rig.ToStep();
  rig.Judge(VerdictOf(Verdict::kFail));
  EXPECT_EQ(rig.state().phase, RunPhase::kStop);
  EXPECT_EQ(rig.state().end_code, ExitCode::kMissed);
}

TEST(RunMachineSweep, AMissHigherUpStillLetsTheLaddersRun) {
  SweepRig rig(TwoLadders);
  rig.ToStep();
  rig.Judge(VerdictOf(Verdict::kPass));
  rig.ReadyAll();
  EXPECT_EQ(rig.Judge(VerdictOf(Verdict::kFail)).plan.sessions, 5u);
  EXPECT_EQ(rig.state().origin.ladder, "light");
}

}  // namespace
}  // namespace plimsoll
