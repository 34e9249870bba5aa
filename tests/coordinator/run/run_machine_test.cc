// The run machine's way through a run: phases, losses and replacements. How runs end is in
// run_machine_end_test.cc.
#include "tests/coordinator/run/machine_rig.h"

namespace plimsoll {
namespace {

TEST(RunMachine, AWholeRunHoldsItsTarget) {
  MachineRig rig;
  rig.Feed(event::Begin{});
  EXPECT_EQ(rig.Did<action::RunPreflight>().size(), 1u);
  rig.Feed(event::PreflightDone{absl::OkStatus()});
  EXPECT_EQ(rig.Did<action::GatherFleet>().size(), 1u);
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(40s));
  rig.Feed(event::FleetComplete{});
  EXPECT_EQ(rig.Did<action::PrepareRun>().size(), 2u);
  rig.Feed(event::RunReadyBy{1});
  EXPECT_TRUE(rig.actions.empty()) << "one is missing";
  rig.Feed(event::RunReadyBy{0});
  for (const std::uint32_t sessions : {5u, 10u}) {
    const auto prepared = rig.Did<action::PrepareStep>();
    ASSERT_EQ(prepared.size(), 1u);
    EXPECT_EQ(prepared[0].plan.sessions, sessions);
    EXPECT_EQ(prepared[0].plan.step, sessions == 5 ? 0u : 1u);
    EXPECT_EQ(prepared[0].plan.measure, Duration(60s));
    EXPECT_EQ(prepared[0].note, "");
    EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(50s)) << "priming and slack";
    rig.ReadyAll();
    EXPECT_EQ(rig.Did<action::CommitStep>().size(), 1u);
    EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(2s + 10s + 60s + 30s + 30s));
    rig.Feed(event::StepClosedBy{0, rig.step()});
    EXPECT_TRUE(rig.actions.empty());
    rig.Feed(event::StepClosedBy{1, rig.step()});
    EXPECT_EQ(rig.Did<action::JudgeStep>().size(), 1u);
    EXPECT_EQ(rig.Did<action::ClearDeadline>().size(), 1u);
    rig.JudgeAs(Verdict::kPass);
  }
  ASSERT_EQ(rig.Did<action::StopAgents>().size(), 1u);
  EXPECT_EQ(rig.Did<action::StopAgents>()[0].kind, StopKind::kDrain);
  EXPECT_EQ(rig.Did<action::StopAgents>()[0].drain_limit, Duration(30s));
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(45s));
  rig.Feed(event::StoppedBy{0});
  rig.Feed(event::StoppedBy{1});
  rig.ExpectFinish(ExitCode::kHeld, "10 sessions hold");
  EXPECT_EQ(rig.machine.state().history[1].requests_in_flight, 4.5);
}

TEST(RunMachine, AStepWithoutDataIsRepeatedOnceWithANoteAndItsOwnNumber) {
  MachineRig rig;
  rig.ToStep();
  rig.CloseAll();
  rig.JudgeAs(Verdict::kNoData);
  ASSERT_EQ(rig.Did<action::PrepareStep>().size(), 1u);
  EXPECT_EQ(rig.Did<action::PrepareStep>()[0].plan.sessions, 5u);
  EXPECT_EQ(rig.Did<action::PrepareStep>()[0].plan.step, 1u);
  EXPECT_NE(rig.Did<action::PrepareStep>()[0].note, "");
  rig.ReadyAll();
  rig.CloseAll();
  rig.JudgeAs(Verdict::kNoData);
  EXPECT_EQ(rig.phase(), RunPhase::kStop);
  rig.Feed(event::DeadlinePassed{});
  rig.ExpectFinish(ExitCode::kNoData, "no data");
}

TEST(RunMachine, AnswersOfOtherStepsAndPhasesChangeNothing) {
  MachineRig rig;
  rig.ToPrepareStep();
  for (const MachineEvent& e : std::vector<MachineEvent>{
           event::StepReadyBy{0, 7}, event::StepClosedBy{0, 0}, event::StoppedBy{0},
           event::RunReadyBy{0}, event::FleetComplete{}, event::Begin{},
           event::PreflightDone{absl::InternalError("late")},
           event::StepJudged{VerdictOf(Verdict::kFail), 0}, event::AgentFailedToStart{"late"}}) {
    rig.Feed(e);
    EXPECT_TRUE(rig.actions.empty()) << "event " << e.index();
  }
  rig.ReadyAll();
  rig.CloseAll();
  rig.JudgeAs(Verdict::kPass);
  rig.ReadyAll();
  ASSERT_EQ(rig.step(), 1u);
  rig.Feed(event::StepClosedBy{0, 0});
  rig.Feed(event::StepClosedBy{1, 0});
  EXPECT_EQ(rig.phase(), RunPhase::kStep) << "closings of an old step close nothing";
  EXPECT_FALSE(rig.machine.state().judging);
}

TEST(RunMachine, AgentsThatDialInDuringPreflightAreNotAwaitedAgain) {
  MachineRig rig(/*local=*/false);
  rig.Feed(event::Begin{});
  rig.Feed(event::FleetComplete{});
  EXPECT_EQ(rig.phase(), RunPhase::kPreflight);
  rig.Feed(event::PreflightDone{absl::OkStatus()});
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareRun);
  EXPECT_EQ(rig.Did<action::PrepareRun>().size(), 2u);
}

TEST(RunMachine, AnAgentThatLeftDuringPreflightIsAwaitedInGather) {
  MachineRig rig(/*local=*/false);
  rig.Feed(event::Begin{});
  rig.Feed(event::FleetComplete{});
  rig.Feed(event::AgentLost{1, "reset"});
  rig.Feed(event::PreflightDone{absl::OkStatus()});
  EXPECT_EQ(rig.phase(), RunPhase::kGather);
  rig.Feed(event::AgentReplaced{1});
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareRun);
  EXPECT_EQ(rig.Did<action::PrepareRun>().size(), 2u);
}

TEST(RunMachine, ALossInTheStepVoidsItAndTheRepeatWaitsForTheSuccessor) {
  for (const bool local : {true, false}) {
    MachineRig rig(local);
    rig.ToStep();
    rig.Feed(event::AgentLost{1, "connection reset"});
    EXPECT_NE(rig.Said().find("agent 1 is lost: connection reset"), std::string::npos);
    EXPECT_EQ(rig.Did<action::JudgeStep>().size(), 1u);
    rig.Feed(event::AgentLost{0, "silent"});
    EXPECT_EQ(rig.Did<action::JudgeStep>().size(), 0u) << "judged once";
    rig.JudgeAs(Verdict::kNoData);
    EXPECT_EQ(rig.phase(), RunPhase::kReplace);
    EXPECT_EQ(rig.Did<action::RestartAgent>().size(), local ? 2u : 0u);
    EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(50s));
    EXPECT_EQ(rig.Said().find("waiting 50 s") != std::string::npos, !local);
    rig.Feed(event::AgentReplaced{0});
    EXPECT_EQ(rig.Did<action::PrepareRun>()[0].slot, 0u);
    rig.Feed(event::RunReadyBy{0});
    EXPECT_EQ(rig.phase(), RunPhase::kReplace) << "slot 1 is still lost";
    rig.Feed(event::AgentReplaced{1});
    rig.Feed(event::RunReadyBy{1});
    EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep);
    EXPECT_EQ(rig.Did<action::PrepareStep>()[0].plan.step, 1u);
  }
}

TEST(RunMachine, ASuccessorThatIsReadyBeforeTheVoidStepWasJudgedIsNotAwaited) {
  MachineRig rig;
  rig.ToStep();
  rig.Feed(event::AgentLost{1, "reset"});
  rig.Feed(event::AgentReplaced{1});
  rig.Feed(event::RunReadyBy{1});
  rig.JudgeAs(Verdict::kNoData);
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep);
}

TEST(RunMachine, ALossWhilePrimingReplacesAndPreparesAgainUnderANewNumber) {
  MachineRig rig;
  rig.ToReplace();
  EXPECT_EQ(rig.Did<action::RestartAgent>()[0].slot, 1u);
  rig.Feed(event::StepReadyBy{0, 0});
  EXPECT_EQ(rig.phase(), RunPhase::kReplace) << "the old step's answer is late";
  rig.Feed(event::AgentReplaced{1});
  rig.Feed(event::AgentLost{1, "again"});
  EXPECT_EQ(rig.Did<action::RestartAgent>().size(), 1u);
  rig.Feed(event::AgentReplaced{1});
  rig.Feed(event::RunReadyBy{1});
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep);
  EXPECT_EQ(rig.step(), 1u);
  rig.Feed(event::StepReadyBy{0, 0});
  rig.Feed(event::StepReadyBy{1, 0});
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep) << "answers for the abandoned one do not count";
  rig.ReadyAll();
  EXPECT_EQ(rig.phase(), RunPhase::kStep);
}

TEST(RunMachine, AnotherLossWhileOneIsReplacedIsReplacedToo) {
  MachineRig rig;
  rig.ToReplace();
  rig.Feed(event::AgentLost{0, "reset"});
  EXPECT_EQ(rig.Did<action::RestartAgent>()[0].slot, 0u);
  rig.Feed(event::AgentReplaced{1});
  rig.Feed(event::RunReadyBy{1});
  EXPECT_EQ(rig.phase(), RunPhase::kReplace);
  rig.Feed(event::AgentReplaced{0});
  rig.Feed(event::RunReadyBy{0});
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep);
}

TEST(RunMachine, AStepNotClosedInTimeIsJudgedAsItStandsAndSaysWhoIsMissing) {
  MachineRig rig;
  rig.ToStep();
  rig.Feed(event::StepClosedBy{0, 0});
  rig.Feed(event::DeadlinePassed{});
  EXPECT_NE(rig.Said().find("agent 1"), std::string::npos);
  EXPECT_EQ(rig.Did<action::JudgeStep>().size(), 1u);
}

TEST(RunMachine, NextIsAPureFunction) {
  MachineRig rig;
  rig.ToStep();
  const MachineState before = rig.machine.state();
  const auto first = RunMachine::Next(MachineRig::Settings(), before, event::AgentLost{0, "x"});
  const auto second = RunMachine::Next(MachineRig::Settings(), before, event::AgentLost{0, "x"});
  EXPECT_EQ(first.second.size(), second.second.size());
  EXPECT_EQ(first.first.lost, second.first.lost);
  EXPECT_TRUE(before.lost.empty());
}

}  // namespace
}  // namespace plimsoll
