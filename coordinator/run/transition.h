// One event's transition of the run machine: the state under change and the actions so far. Part of
// run_machine, in two files: what a run does until it ends (run_machine.cc), and how it ends, with
// its hooks (transition_end.cc). Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "coordinator/run/run_machine.h"

namespace plimsoll {

class Transition {
 public:
  Transition(const RunSettings& settings, MachineState state)
      : settings_(settings), s_(std::move(state)) {}

  void On(const event::Begin&);
  void On(const event::PreflightDone& e);
  void On(const event::FleetComplete& e);
  void On(const event::AgentFailedToStart& e);
  void On(const event::RunReadyBy& e);
  void On(const event::EvalsAskedBy& e);
  void On(const event::StepReadyBy& e);
  void On(const event::StepClosedBy& e);
  void On(const event::StepJudged& e);
  void On(const event::LookFailed& e);
  void On(const event::AgentLost& e);
  void On(const event::AgentReplaced& e);
  void On(const event::AgentFaulted& e);
  void On(const event::StoppedBy& e);
  void On(const event::DeploymentBack&);
  void On(const event::StoreFailed& e);
  void On(const event::DeadlinePassed&);
  void On(const event::WindowCloses&);
  void On(const event::HookEnded& e);
  void On(const event::KillSwitchTripped& e);
  void On(const event::StopRequested& e);

  std::pair<MachineState, std::vector<MachineAction>> Take() {
    return {std::move(s_), std::move(actions_)};
  }

 private:
  void Do(MachineAction action) { actions_.push_back(std::move(action)); }
  void WaitFor(std::uint32_t slots);

  void RunPreflight();
  void PrepareRunIfGathered();
  void MiniEvalsOrStep();
  void NextStepOrStop(SweepEvent event = SweepEvent::kNone);
  void EndSweep(const SweepDecision& stop);
  void PrepareStep();
  void Judge();
  void Lose(std::uint32_t slot, const std::string& reason);
  bool TooManyLosses();
  void Restart(std::uint32_t slot);
  void Replace();

  void EndRun(ExitCode code, std::string reason, StopKind kind);
  void InterruptRollout(ExitCode code, std::string reason);
  void FinishWhenStopped();
  void Finish(ExitCode code, std::string reason);
  void RunHook(HookPhase phase);
  void HookIsLate();
  void RollBackOrClose();
  void Close();

  const RunSettings& settings_;
  MachineState s_;
  std::vector<MachineAction> actions_;
};

}  // namespace plimsoll
