// Rollout, promotion, rollback, the window and the kill switch: what a run does before and after it
// measures, and that a rollback always comes.
#include "coordinator/run/window_budget.h"
#include "gmock/gmock.h"
#include "tests/coordinator/run/machine_rig.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

RunSettings WithHooks(bool promote = false) {
  RunSettings settings = MachineRig::Settings();
  settings.hooks = {.rollout = 10min, .promote = std::nullopt, .rollback = 5min};
  if (promote) settings.hooks.promote = 2min;
  return settings;
}

std::vector<HookPhase> HooksRun(const MachineRig& rig) {
  std::vector<HookPhase> hooks;
  for (const auto& run : rig.DidEver<action::RunHook>()) hooks.push_back(run.phase);
  return hooks;
}

event::HookEnded Ended(HookPhase phase, bool ok = true) {
  return {phase, ok, std::string(Name(phase)) + (ok ? " ended well" : " failed with exit code 3")};
}

void ToStepAfterRollout(MachineRig& rig) {
  rig.Feed(event::Begin{});
  ASSERT_EQ(rig.phase(), RunPhase::kRollout);
  rig.Feed(Ended(HookPhase::kRollout));
  ASSERT_EQ(rig.phase(), RunPhase::kPreflight);
  rig.Feed(event::PreflightDone{absl::OkStatus()});
  rig.Feed(event::FleetComplete{});
  for (const std::uint32_t slot : {0u, 1u}) rig.Feed(event::RunReadyBy{slot});
  rig.ReadyAll();
  ASSERT_EQ(rig.phase(), RunPhase::kStep);
}

void JudgeStepAs(MachineRig& rig, Verdict verdict) {
  rig.CloseAll();
  rig.JudgeAs(verdict);
}

void StopAll(MachineRig& rig) {
  ASSERT_EQ(rig.phase(), RunPhase::kStop);
  for (const std::uint32_t slot : {0u, 1u}) rig.Feed(event::StoppedBy{slot});
}

void HoldTarget(MachineRig& rig) {
  JudgeStepAs(rig, Verdict::kPass);
  rig.ReadyAll();
  JudgeStepAs(rig, Verdict::kPass);
  StopAll(rig);
}

TEST(RunMachineHooks, ARunThatMissesIsRolledBackWithItsVerdict) {
  MachineRig rig(WithHooks());
  ToStepAfterRollout(rig);
  JudgeStepAs(rig, Verdict::kFail);
  StopAll(rig);
  ASSERT_EQ(rig.phase(), RunPhase::kRollBack);
  const auto run = rig.Did<action::RunHook>();
  ASSERT_EQ(run.size(), 1u);
  EXPECT_EQ(run[0].verdict, "fail");
  EXPECT_THAT(run[0].reason, HasSubstr("5 sessions miss"));
  ASSERT_EQ(rig.Did<action::SetDeadline>().size(), 1u);
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, 5min + kHookSlack);
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kMissed, "5 sessions miss");
}

TEST(RunMachineHooks, APassIsRolledBackTooUnlessItWasAskedToPromote) {
  MachineRig rig(WithHooks());
  ToStepAfterRollout(rig);
  HoldTarget(rig);
  ASSERT_EQ(rig.phase(), RunPhase::kRollBack);
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kHeld, "10 sessions hold");
  EXPECT_EQ(HooksRun(rig), (std::vector{HookPhase::kRollout, HookPhase::kRollBack}));
}

TEST(RunMachineHooks, OnlyAConfidentPassIsPromoted) {
  for (const Verdict last :
       {Verdict::kPass, Verdict::kTooClose, Verdict::kFail, Verdict::kNoData}) {
    SCOPED_TRACE(Name(last));
    MachineRig rig(WithHooks(true));
    ToStepAfterRollout(rig);
    JudgeStepAs(rig, Verdict::kPass);
    for (int i = 0; i < 4 && rig.phase() != RunPhase::kStop; ++i) {
      rig.ReadyAll();
      JudgeStepAs(rig, last);
    }
    StopAll(rig);
    const bool promoted = last == Verdict::kPass;
    EXPECT_EQ(rig.phase(), promoted ? RunPhase::kPromote : RunPhase::kRollBack);
    rig.Feed(Ended(promoted ? HookPhase::kPromote : HookPhase::kRollBack));
    EXPECT_EQ(rig.phase(), RunPhase::kDone);
    EXPECT_EQ(HooksRun(rig).size(), 2u);
  }
}

TEST(RunMachineHooks, APromotionThatFailsIsRolledBackAndIsNoSuccess) {
  MachineRig rig(WithHooks(true));
  ToStepAfterRollout(rig);
  HoldTarget(rig);
  rig.Feed(Ended(HookPhase::kPromote, false));
  ASSERT_EQ(rig.phase(), RunPhase::kRollBack);
  EXPECT_EQ(rig.Did<action::RunHook>()[0].verdict, "pass");
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kCouldNotRun, "promote failed with exit code 3");
}

TEST(RunMachineHooks, ARolloutThatFailsIsRolledBackAndNothingIsSent) {
  MachineRig rig(WithHooks());
  rig.Feed(event::Begin{});
  rig.Feed(Ended(HookPhase::kRollout, false));
  EXPECT_EQ(rig.phase(), RunPhase::kRollBack);
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kCouldNotRun, "rollout failed");
  EXPECT_TRUE(rig.DidEver<action::RunPreflight>().empty());
}

TEST(RunMachineHooks, ARollbackThatFailsIsSixWhateverTheVerdict) {
  for (const Verdict verdict : {Verdict::kPass, Verdict::kFail}) {
    MachineRig rig(WithHooks());
    ToStepAfterRollout(rig);
    if (verdict == Verdict::kPass) {
      HoldTarget(rig);
    } else {
      JudgeStepAs(rig, verdict);
      StopAll(rig);
    }
    rig.Feed(Ended(HookPhase::kRollBack, false));
    rig.ExpectFinish(ExitCode::kRollbackFailed, "the deployment is not what it was");
  }
}

TEST(RunMachineHooks, AStopDuringTheRolloutEndsItsHookAndRollsBackOnlyThen) {
  MachineRig rig(WithHooks());
  rig.Feed(event::Begin{});
  rig.Feed(event::StopRequested{1});
  EXPECT_EQ(rig.Did<action::AbortHook>().size(), 1u);
  EXPECT_EQ(rig.phase(), RunPhase::kRollout) << "its hook may still live";
  rig.Feed(event::StopRequested{2});
  EXPECT_TRUE(rig.Did<action::AbortHook>().empty()) << "it was told";
  rig.Feed(Ended(HookPhase::kRollout, false));
  ASSERT_EQ(rig.phase(), RunPhase::kRollBack);
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kStopped, "stopped by a signal");
}

TEST(RunMachineHooks, NoSignalInterruptsARollback) {
  MachineRig rig(WithHooks());
  ToStepAfterRollout(rig);
  JudgeStepAs(rig, Verdict::kFail);
  StopAll(rig);
  for (const int count : {1, 2, 3, 4}) {
    rig.Feed(event::StopRequested{count});
    EXPECT_TRUE(rig.Did<action::AbortHook>().empty());
    EXPECT_EQ(rig.phase(), RunPhase::kRollBack);
    EXPECT_THAT(rig.Said(), HasSubstr("goes on to its end"));
  }
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kMissed, "miss");
}

TEST(RunMachineHooks, AStopEndsAPromotionAndRollsItBack) {
  MachineRig rig(WithHooks(true));
  ToStepAfterRollout(rig);
  HoldTarget(rig);
  ASSERT_EQ(rig.phase(), RunPhase::kPromote);
  rig.Feed(event::StopRequested{1});
  EXPECT_EQ(rig.Did<action::AbortHook>().size(), 1u);
  rig.Feed(Ended(HookPhase::kPromote, false));
  ASSERT_EQ(rig.phase(), RunPhase::kRollBack);
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kStopped, "stopped by a signal");
}

TEST(RunMachineHooks, AHookThatCannotBeEndedLeavesNothingBesideIt) {
  MachineRig rig(WithHooks());
  rig.Feed(event::Begin{});
  rig.Feed(event::DeadlinePassed{});
  EXPECT_EQ(rig.Did<action::AbortHook>().size(), 1u);
  rig.Feed(event::DeadlinePassed{});
  rig.ExpectFinish(ExitCode::kRollbackFailed, "rollout hook cannot be ended");
  EXPECT_EQ(HooksRun(rig), std::vector{HookPhase::kRollout});
}

TEST(RunMachineHooks, TheKillSwitchAbortsAtOnceAndRollsBack) {
  MachineRig rig(WithHooks());
  ToStepAfterRollout(rig);
  rig.Feed(event::KillSwitchTripped{"production's queue was over 200 for 10s"});
  ASSERT_EQ(rig.Did<action::StopAgents>().size(), 1u);
  EXPECT_EQ(rig.Did<action::StopAgents>()[0].kind, StopKind::kAbort);
  EXPECT_EQ(rig.Did<action::BreakOffStep>().size(), 1u);
  StopAll(rig);
  ASSERT_EQ(rig.phase(), RunPhase::kRollBack);
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kStopped, "kill switch: production's queue");
}

TEST(RunMachineHooks, TheKillSwitchWorksInEveryPhase) {
  RunSettings settings = WithHooks(true);
  settings.back_limit = 20s;
  for (int stage = 0; stage < 5; ++stage) {
    SCOPED_TRACE(stage);
    MachineRig rig(settings);
    rig.Feed(event::Begin{});
    if (stage >= 1) rig.Feed(Ended(HookPhase::kRollout));
    if (stage >= 2) rig.Feed(event::PreflightDone{absl::OkStatus()});
    if (stage >= 3) {
      rig.Feed(event::FleetComplete{});
      for (const std::uint32_t slot : {0u, 1u}) rig.Feed(event::RunReadyBy{slot});
      rig.ReadyAll();
      HoldTarget(rig);
      ASSERT_EQ(rig.phase(), RunPhase::kSettle);
    }
    if (stage >= 4) rig.Feed(event::DeploymentBack{});
    rig.Feed(event::KillSwitchTripped{"file"});
    if (stage == 0) rig.Feed(Ended(HookPhase::kRollout, false));
    if (stage == 4) {
      EXPECT_EQ(rig.Did<action::AbortHook>().size(), 1u);
      rig.Feed(Ended(HookPhase::kPromote, false));
    }
    ASSERT_EQ(rig.phase(), RunPhase::kRollBack);
    rig.Feed(Ended(HookPhase::kRollBack));
    rig.ExpectFinish(ExitCode::kStopped, "kill switch: file");
  }
}

// Sixty seconds measured, ten of warm-up, thirty to drain, twenty to prime: 122 s a step.
RunSettings InWindow(Duration window) {
  RunSettings settings = WithHooks();
  settings.window = window;
  return settings;
}

TEST(RunMachineWindow, TheReserveIsSubtractedFirst) {
  const RunSettings settings = InWindow(60min);
  EXPECT_EQ(EndReserve(settings), 30s + kStopSlack + 5min + kHookSlack);
  MachineRig rig(settings);
  rig.Feed(event::Begin{});
  ASSERT_EQ(rig.Did<action::SetWindowEnd>().size(), 1u);
  EXPECT_EQ(rig.Did<action::SetWindowEnd>()[0].after, 60min - EndReserve(settings));
}

TEST(RunMachineWindow, OneThatHoldsNoStepBeginsNothing) {
  MachineRig rig(InWindow(15min));
  rig.Feed(event::Begin{});
  rig.ExpectFinish(ExitCode::kCouldNotRun, "the window of 15m is too short");
  EXPECT_TRUE(HooksRun(rig).empty()) << "nothing was rolled out";
  EXPECT_EQ(WhyWindowIsTooShort(InWindow(LeastWindow(WithHooks()))), "");
}

TEST(RunMachineWindow, AStepThatWouldNotFitIsNotBegun) {
  const RunSettings settings = InWindow(60min);
  const Duration end = MeasuringTime(settings);
  for (const bool fits : {true, false}) {
    MachineRig rig(settings);
    ToStepAfterRollout(rig);
    rig.CloseAll();
    rig.now = end - (fits ? 123s : 121s);
    rig.JudgeAs(Verdict::kPass);
    EXPECT_EQ(rig.phase(), fits ? RunPhase::kPrepareStep : RunPhase::kStop);
    if (fits) continue;
    EXPECT_THAT(rig.Said(), HasSubstr("left of the window, too little for 10 sessions"));
    StopAll(rig);
    EXPECT_EQ(rig.phase(), RunPhase::kRollBack);
  }
}

TEST(RunMachineWindow, ThatEndsInTheMiddleOfAStepBreaksItOffAndRollsBack) {
  MachineRig rig(InWindow(60min));
  ToStepAfterRollout(rig);
  JudgeStepAs(rig, Verdict::kPass);
  rig.ReadyAll();
  rig.Feed(event::WindowCloses{});
  EXPECT_EQ(rig.Did<action::BreakOffStep>().size(), 1u);
  StopAll(rig);
  ASSERT_EQ(rig.phase(), RunPhase::kRollBack);
  rig.Feed(event::WindowCloses{});
  EXPECT_TRUE(rig.actions.empty());
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kNoData, "then the window was over");
}

TEST(RunMachineWindow, ThatEndsBeforeAnythingWasJudgedSaysSo) {
  MachineRig rig(InWindow(60min));
  rig.Feed(event::Begin{});
  rig.Feed(event::WindowCloses{});
  EXPECT_EQ(rig.Did<action::AbortHook>().size(), 1u);
  rig.Feed(Ended(HookPhase::kRollout, false));
  rig.Feed(Ended(HookPhase::kRollBack));
  rig.ExpectFinish(ExitCode::kCouldNotRun, "the window was over before a step was judged");
}

}  // namespace
}  // namespace plimsoll
