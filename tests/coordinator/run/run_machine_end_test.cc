// Every way a run ends: failures, deadlines, signals, and which exit code outranks which.
#include "tests/coordinator/run/machine_rig.h"

namespace plimsoll {
namespace {

TEST(RunMachineEnd, EachFailureEndsItsPhaseWithItsCodeInWords) {
  struct {
    RunPhase phase;
    MachineEvent event;
    ExitCode code;
    std::string words;
  } const cases[] = {
      {RunPhase::kPreflight, event::PreflightDone{absl::UnavailableError("no gateway")},
       ExitCode::kCouldNotRun, "preflight blocks: no gateway"},
      {RunPhase::kPreflight, event::StopRequested{1}, ExitCode::kStopped, "signal"},
      {RunPhase::kPreflight, event::StoreFailed{"disk full"}, ExitCode::kCouldNotRun, "disk full"},
      {RunPhase::kGather, event::DeadlinePassed{}, ExitCode::kCouldNotRun, "2 agents"},
      {RunPhase::kGather, event::AgentFailedToStart{"local agent 1 exited with code 64"},
       ExitCode::kCouldNotRun, "exited with code 64"},
      {RunPhase::kGather, event::StopRequested{1}, ExitCode::kStopped, "signal"},
      {RunPhase::kPrepareRun, event::DeadlinePassed{}, ExitCode::kCouldNotRun,
       "not ready in time: agent 0, agent 1"},
      {RunPhase::kPrepareRun, event::AgentLost{1, "reset"}, ExitCode::kCouldNotRun,
       "before the first step"},
      {RunPhase::kPrepareRun, event::AgentFaulted{0, "not allowed"}, ExitCode::kCouldNotRun,
       "agent 0: not allowed"},
      {RunPhase::kPrepareStep, event::DeadlinePassed{}, ExitCode::kNoData, "agent 0, agent 1"},
      {RunPhase::kReplace, event::DeadlinePassed{}, ExitCode::kNoData, "agent 1"},
      {RunPhase::kReplace, event::AgentFailedToStart{"no program"}, ExitCode::kNoData,
       "no program"},
      {RunPhase::kStep, event::StoreFailed{"disk full"}, ExitCode::kCouldNotRun,
       "the store failed: disk full"},
      {RunPhase::kStep, event::StopRequested{1}, ExitCode::kStopped, "signal"},
      {RunPhase::kStep, event::StopRequested{2}, ExitCode::kStopped, "signal"},
      {RunPhase::kStop, event::DeadlinePassed{}, ExitCode::kMissed, "5 sessions miss"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(Name(c.phase)) + ", event " + std::to_string(c.event.index()));
    MachineRig rig;
    rig.To(c.phase);
    ASSERT_EQ(rig.phase(), c.phase);
    rig.Feed(c.event);
    if (rig.phase() == RunPhase::kStop) rig.Feed(event::DeadlinePassed{});
    rig.ExpectFinish(c.code, c.words);
    rig.Feed(event::DeadlinePassed{});
    rig.Feed(event::StopRequested{2});
    rig.Feed(event::StoreFailed{"late"});
    rig.ExpectFinish(c.code, c.words);
  }
}

TEST(RunMachineEnd, AFaultAfterAJudgedStepIsNoDataNotCouldNotRun) {
  MachineRig rig;
  rig.ToStep();
  rig.CloseAll();
  rig.JudgeAs(Verdict::kPass);
  rig.Feed(event::AgentFaulted{1, "a step before its run"});
  EXPECT_EQ(rig.Did<action::StopAgents>()[0].kind, StopKind::kAbort);
  rig.Feed(event::DeadlinePassed{});
  rig.ExpectFinish(ExitCode::kNoData, "a step before its run");
}

TEST(RunMachineEnd, TheFirstSignalDrainsTheSecondAbortsWithoutAskingTwice) {
  MachineRig rig;
  rig.ToStep();
  rig.Feed(event::StopRequested{1});
  ASSERT_EQ(rig.Did<action::StopAgents>().size(), 1u);
  EXPECT_EQ(rig.Did<action::StopAgents>()[0].kind, StopKind::kDrain);
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(45s));
  rig.Feed(event::StepClosedBy{0, 0});
  rig.Feed(event::StepJudged{VerdictOf(Verdict::kPass), 1});
  EXPECT_EQ(rig.phase(), RunPhase::kStop) << "what is judged now leads nowhere";
  rig.Feed(event::StoppedBy{0});
  rig.Feed(event::StopRequested{2});
  ASSERT_EQ(rig.Did<action::StopAgents>().size(), 1u);
  EXPECT_EQ(rig.Did<action::StopAgents>()[0].kind, StopKind::kAbort);
  EXPECT_EQ(rig.Did<action::StopAgents>()[0].drain_limit, Duration(0s));
  EXPECT_EQ(rig.Did<action::SetDeadline>()[0].after, Duration(15s));
  rig.Feed(event::StoppedBy{1});
  rig.ExpectFinish(ExitCode::kStopped, "signal");
}

TEST(RunMachineEnd, TheThirdSignalWaitsForNobody) {
  MachineRig rig;
  rig.ToStep();
  for (const int count : {1, 2}) rig.Feed(event::StopRequested{count});
  EXPECT_EQ(rig.phase(), RunPhase::kStop);
  rig.Feed(event::StopRequested{3});
  rig.ExpectFinish(ExitCode::kStopped, "signal");
}

TEST(RunMachineEnd, AStepIsBrokenOffOnceAndOnlyIfItIsRunningAndUnjudged) {
  const auto broken_off = [](const MachineRig& rig) {
    return rig.DidEver<action::BreakOffStep>().size();
  };
  const MachineEvent ends[] = {event::StopRequested{1}, event::StopRequested{3},
                               event::StoreFailed{"full"}, event::AgentFaulted{0, "fault"}};
  for (const MachineEvent& end : ends) {
    for (const RunPhase phase : {RunPhase::kPreflight, RunPhase::kGather, RunPhase::kPrepareRun,
                                 RunPhase::kPrepareStep, RunPhase::kReplace, RunPhase::kStop}) {
      MachineRig rig;
      rig.To(phase);
      rig.Feed(end);
      EXPECT_EQ(broken_off(rig), 0u) << Name(phase);
    }
    MachineRig rig;
    rig.ToStep();
    rig.Feed(end);
    rig.Feed(end);
    EXPECT_EQ(broken_off(rig), 1u);
    MachineRig judged;
    judged.ToStep();
    judged.CloseAll();
    judged.Feed(end);
    EXPECT_EQ(broken_off(judged), 0u) << "it waits for its verdict only";
  }
}

TEST(RunMachineEnd, AnAgentThatNeverAnswersIsNamedWithWhatToDo) {
  MachineRig rig;
  rig.ToGather();
  rig.Feed(event::FleetComplete{{"a", "b"}});
  for (const std::uint32_t slot : {0u, 1u}) rig.Feed(event::RunReadyBy{slot});
  rig.Feed(event::StepReadyBy{0, 0});
  rig.Feed(event::DeadlinePassed{});
  rig.Feed(event::DeadlinePassed{});
  rig.ExpectFinish(ExitCode::kNoData,
                   "agent 1 (b) is connected but has not prepared the step within "
                   "50s; look at the output of that agent");
}

TEST(RunMachineEnd, AnAgentThatDiedDuringPreflightIsNamedIfNobodyComes) {
  MachineRig rig(/*local=*/false);
  rig.Feed(event::Begin{});
  rig.Feed(event::FleetComplete{{"a", "b"}});
  rig.Feed(event::AgentLost{1, "reset"});
  rig.Feed(event::PreflightDone{absl::OkStatus()});
  EXPECT_NE(rig.Said().find("waiting for another agent in the place of agent 1 (b)"),
            std::string::npos)
      << rig.Said();
  rig.Feed(event::DeadlinePassed{});
  rig.ExpectFinish(ExitCode::kCouldNotRun, "agent 1 (b) left before the run began");
}

TEST(RunMachineEnd, NothingThatHappensWhileStoppingGivesItMoreTime) {
  MachineRig rig;
  rig.ToStep();
  rig.Feed(event::StopRequested{2});
  rig.Feed(event::StoppedBy{0});
  for (int i = 0; i < 5; ++i) {
    rig.Feed(event::StoreFailed{"disk full"});
    EXPECT_TRUE(rig.Did<action::SetDeadline>().empty());
    EXPECT_TRUE(rig.Did<action::StopAgents>().empty());
  }
  rig.Feed(event::AgentLost{1, "reset"});
  rig.ExpectFinish(ExitCode::kStopped, "signal");
}

TEST(RunMachineEnd, PrecedenceIsStoppedThenCouldNotRunThenTheVerdict) {
  struct {
    std::vector<MachineEvent> events;
    ExitCode code;
  } const cases[] = {
      {{}, ExitCode::kMissed},
      {{event::StoreFailed{"full"}}, ExitCode::kCouldNotRun},
      {{event::StopRequested{1}}, ExitCode::kStopped},
      {{event::StoreFailed{"full"}, event::StopRequested{1}}, ExitCode::kStopped},
      {{event::StopRequested{1}, event::StoreFailed{"full"}}, ExitCode::kStopped},
      {{event::AgentFaulted{0, "late"}}, ExitCode::kMissed},
      {{event::AgentLost{0, "late"}}, ExitCode::kMissed},
  };
  for (const auto& c : cases) {
    MachineRig rig;
    rig.ToStop();
    for (const MachineEvent& e : c.events) rig.Feed(e);
    rig.Feed(event::DeadlinePassed{});
    ASSERT_EQ(rig.DidEver<action::Finish>().size(), 1u);
    EXPECT_EQ(rig.DidEver<action::Finish>()[0].code, c.code);
  }
}

TEST(RunMachineEnd, VerdictsBecomeTheirCodes) {
  const std::pair<Verdict, ExitCode> cases[] = {{Verdict::kPass, ExitCode::kHeld},
                                                {Verdict::kFail, ExitCode::kMissed},
                                                {Verdict::kTooClose, ExitCode::kTooClose},
                                                {Verdict::kNoData, ExitCode::kNoData}};
  for (const auto& [verdict, code] : cases) {
    MachineRig rig;
    rig.ToStep();
    rig.CloseAll();
    rig.JudgeAs(Verdict::kPass);
    for (int tries = 0; tries < 2 && rig.phase() != RunPhase::kStop; ++tries) {
      rig.ReadyAll();
      rig.CloseAll();
      rig.JudgeAs(verdict);
    }
    rig.Feed(event::DeadlinePassed{});
    ASSERT_EQ(rig.DidEver<action::Finish>().size(), 1u);
    EXPECT_EQ(rig.DidEver<action::Finish>()[0].code, code);
  }
}

TEST(RunMachineEnd, ALostAgentIsNotAskedToStop) {
  MachineRig rig;
  rig.ToReplace();
  rig.Feed(event::StopRequested{1});
  EXPECT_EQ(rig.phase(), RunPhase::kStop);
  rig.Feed(event::StoppedBy{0});
  rig.ExpectFinish(ExitCode::kStopped, "signal");
}

TEST(RunMachineEnd, WithAllAgentsLostThereIsNothingToWaitFor) {
  MachineRig rig;
  rig.ToReplace();
  rig.Feed(event::AgentLost{0, "reset"});
  rig.Feed(event::DeadlinePassed{});
  rig.ExpectFinish(ExitCode::kNoData, "agent 0, agent 1");
}

TEST(RunMachineEnd, AnAgentThatComesBackWhileStoppingIsLeftAlone) {
  MachineRig rig;
  rig.ToStop();
  rig.Feed(event::AgentReplaced{0});
  EXPECT_TRUE(rig.actions.empty());
  rig.Feed(event::AgentFailedToStart{"late"});
  EXPECT_TRUE(rig.actions.empty());
}

TEST(RunMachineEnd, AnAgentThatDiesOfEveryPreparationIsNotRestartedForever) {
  for (const bool ready_between : {true, false}) {
    MachineRig rig;
    rig.ToPrepareStep();
    int losses = 0;
    while (rig.phase() != RunPhase::kStop && losses < 100) {
      rig.Feed(event::AgentLost{1, "out of memory"});
      ++losses;
      rig.Feed(event::AgentReplaced{1});
      if (ready_between) rig.Feed(event::RunReadyBy{1});
    }
    EXPECT_EQ(losses, 5) << "two for each agent are replaced";
    rig.Feed(event::StoppedBy{0});
    rig.ExpectFinish(ExitCode::kNoData, "lost 5 times");
  }
}

TEST(RunMachineEnd, ACommonStartForgivesLossesOfItsPreparation) {
  MachineRig rig;
  rig.ToPrepareStep();
  const auto lose_four = [&] {
    for (int i = 0; i < 4; ++i) {
      rig.Feed(event::AgentLost{1, "reset"});
      rig.Feed(event::AgentReplaced{1});
      rig.Feed(event::RunReadyBy{1});
    }
  };
  lose_four();
  rig.ReadyAll();
  rig.CloseAll();
  rig.JudgeAs(Verdict::kPass);
  lose_four();
  EXPECT_EQ(rig.phase(), RunPhase::kPrepareStep);
}

}  // namespace
}  // namespace plimsoll
