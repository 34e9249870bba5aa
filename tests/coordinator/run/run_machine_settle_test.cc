// The machine once servers are asked: the wait until the deployment is back, and what a step may
// meet that ends the sweep.
#include "gtest/gtest.h"
#include "tests/coordinator/run/machine_rig.h"

namespace plimsoll {
namespace {

RunSettings Asked() {
  RunSettings settings = MachineRig::Settings();
  settings.back_limit = 60s;
  return settings;
}

void StopAll(MachineRig& rig) {
  for (const std::uint32_t slot : {0u, 1u}) rig.Feed(event::StoppedBy{slot});
}

TEST(RunMachineSettle, WaitsUntilTheDeploymentIsBackOrNoLonger) {
  for (const bool back : {true, false}) {
    MachineRig rig(Asked());
    rig.ToStop();
    StopAll(rig);
    EXPECT_EQ(rig.phase(), RunPhase::kSettle);
    EXPECT_EQ(rig.Did<action::AwaitBack>().size(), 1u);
    ASSERT_EQ(rig.Did<action::SetDeadline>().size(), 1u);
    EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, 60s);
    // Agents that go now, and what comes late, change nothing.
    rig.Feed(event::AgentLost{0, "gone"});
    rig.Feed(event::AgentReplaced{0});
    rig.Feed(event::AgentFaulted{1, "late"});
    rig.Feed(event::StoppedBy{1});
    EXPECT_EQ(rig.phase(), RunPhase::kSettle);
    back ? rig.Feed(event::DeploymentBack{}) : rig.Feed(event::DeadlinePassed{});
    rig.ExpectFinish(ExitCode::kMissed, "5 sessions miss");
  }
}

TEST(RunMachineSettle, WithoutLoadOrServersNothingIsAwaited) {
  MachineRig rig(Asked());
  rig.ToPrepareRun();
  rig.Feed(event::StopRequested{1});
  StopAll(rig);
  rig.ExpectFinish(ExitCode::kStopped, "signal");
  MachineRig unasked;
  unasked.ToStop();
  StopAll(unasked);
  unasked.ExpectFinish(ExitCode::kMissed, "5 sessions miss");
}

TEST(RunMachineSettle, ASignalEndsTheWait) {
  MachineRig rig(Asked());
  rig.ToStop();
  StopAll(rig);
  rig.Feed(event::StopRequested{1});
  rig.ExpectFinish(ExitCode::kStopped, "signal");
  // Whoever aborted does not wait for it at all.
  MachineRig aborted(Asked());
  aborted.ToStep();
  aborted.Feed(event::StopRequested{2});
  StopAll(aborted);
  aborted.ExpectFinish(ExitCode::kStopped, "signal");
}

TEST(RunMachineSettle, AStoreThatFailsMeanwhileIsTheRunsEndWord) {
  MachineRig rig(Asked());
  rig.ToStop();
  StopAll(rig);
  rig.Feed(event::StoreFailed{"disk full"});
  EXPECT_EQ(rig.phase(), RunPhase::kSettle);
  EXPECT_TRUE(rig.Did<action::StopAgents>().empty());
  rig.Feed(event::DeploymentBack{});
  rig.ExpectFinish(ExitCode::kCouldNotRun, "disk full");
}

TEST(RunMachineSettle, AnEarlyAnswerChangesNothing) {
  MachineRig rig(Asked());
  rig.ToStep();
  rig.Feed(event::DeploymentBack{});
  EXPECT_EQ(rig.phase(), RunPhase::kStep);
}

TEST(RunMachineSweepEvent, EndsTheSweepAfterAStepThatHolds) {
  for (const Verdict verdict : {Verdict::kPass, Verdict::kTooClose, Verdict::kNoData}) {
    MachineRig rig;
    rig.ToStep();
    rig.CloseAll();
    rig.Feed(event::StepJudged{VerdictOf(verdict), 4.5, {}, SweepEvent::kKvCacheFull});
    EXPECT_EQ(rig.phase(), RunPhase::kStop) << Name(verdict);
    EXPECT_NE(rig.Said().find("the KV cache is full"), std::string::npos) << rig.Said();
    EXPECT_EQ(rig.machine.state().history.back().ended_by, SweepEvent::kKvCacheFull);
  }
}

TEST(RunMachineSweepEvent, AMissKeepsItsOwnReason) {
  MachineRig rig;
  rig.ToStep();
  rig.CloseAll();
  rig.Feed(event::StepJudged{VerdictOf(Verdict::kFail), 4.5, {}, SweepEvent::kRefusals});
  EXPECT_NE(rig.Said().find("5 sessions miss"), std::string::npos) << rig.Said();
}

}  // namespace
}  // namespace plimsoll
