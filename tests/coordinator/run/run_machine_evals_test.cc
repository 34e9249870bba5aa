// The run machine's mini run of evals: who is waited for, and what ends it.
#include "tests/coordinator/run/machine_rig.h"

namespace plimsoll {
namespace {

RunSettings WithEvals() {
  RunSettings settings = MachineRig::Settings();
  settings.mini_run = {.askers = 2, .at_once = 2, .limit = 100s};
  return settings;
}

TEST(RunMachineEvals, TheMiniRunComesBetweenThePlanAndTheFirstStep) {
  MachineRig rig(WithEvals());
  rig.ToPrepareStep();  // Both agents are ready for the run.
  EXPECT_EQ(rig.phase(), RunPhase::kMiniEvals);
  ASSERT_EQ(rig.Did<action::AskEvals>().size(), 1u);
  EXPECT_EQ(rig.Did<action::AskEvals>()[0].settings, WithEvals().mini_run);
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(130s)) << "its limit and slack";
  EXPECT_TRUE(rig.Did<action::PrepareStep>().empty());
  rig.Feed(event::EvalsAskedBy{1});
  EXPECT_EQ(rig.phase(), RunPhase::kMiniEvals);
  rig.Feed(event::EvalsAskedBy{0});
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep);
  ASSERT_EQ(rig.Did<action::PrepareStep>().size(), 1u);
  EXPECT_EQ(rig.Did<action::PrepareStep>()[0].plan.sessions, 5u);
  rig.ReadyAll();
  rig.Feed(event::EvalsAskedBy{0});
  EXPECT_TRUE(rig.actions.empty()) << "said twice";
}

TEST(RunMachineEvals, FewerAskersThanAgentsAreWaitedForAlone) {
  RunSettings settings = WithEvals();
  settings.mini_run.askers = 1;
  MachineRig rig(settings);
  rig.ToPrepareStep();
  rig.Feed(event::EvalsAskedBy{0});
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep);
}

TEST(RunMachineEvals, WhatIsLateIsNotWaitedForAndSaid) {
  MachineRig rig(WithEvals());
  rig.ToPrepareStep();
  rig.Feed(event::EvalsAskedBy{0});
  rig.Feed(event::DeadlinePassed{});
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep);
  EXPECT_NE(rig.Said().find("not ended in time by agent 1: what has come counts"),
            std::string::npos)
      << rig.Said();
}

TEST(RunMachineEvals, AnAgentLostInItEndsTheRunAsBeforeAnyFirstStep) {
  MachineRig rig(WithEvals());
  rig.ToPrepareStep();
  rig.Feed(event::AgentLost{1, "reset"});
  EXPECT_EQ(rig.phase(), RunPhase::kStop);
  rig.Feed(event::StoppedBy{0});
  rig.ExpectFinish(ExitCode::kCouldNotRun, "an agent was lost before the first step");
}

TEST(RunMachineEvals, AStopAndAFaultEndIt) {
  MachineRig rig(WithEvals());
  rig.ToPrepareStep();
  rig.Feed(event::StopRequested{1});
  EXPECT_EQ(rig.phase(), RunPhase::kStop);
  for (const std::uint32_t slot : {0u, 1u}) rig.Feed(event::StoppedBy{slot});
  rig.ExpectFinish(ExitCode::kStopped, "stopped by a signal");
  MachineRig other(WithEvals());
  other.ToPrepareStep();
  other.Feed(event::AgentFaulted{0, "the plan's evals:3: unknown field"});
  for (const std::uint32_t slot : {0u, 1u}) other.Feed(event::StoppedBy{slot});
  other.ExpectFinish(ExitCode::kCouldNotRun, "unknown field");
}

}  // namespace
}  // namespace plimsoll
