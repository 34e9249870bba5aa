#include "coordinator/run/run_machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "coordinator/run/ladders.h"
#include "coordinator/run/machine_step.h"
#include "coordinator/run/run_words.h"

namespace plimsoll {
namespace {

constexpr Duration kPrepareLimit = 60s;
constexpr Duration kStopSlack = 15s;
// An agent that dies of the step it prepares would die of it again and again, each time restarted.
constexpr std::uint32_t kPrepareLossesMax = 2;

// One event's transition: the state under change and the actions so far.
class Transition {
 public:
  Transition(const RunSettings& settings, MachineState state)
      : settings_(settings), s_(std::move(state)) {}

  void On(const event::Begin&) {
    if (s_.phase != RunPhase::kPreflight) return;
    Do(action::Say{"preflight: a few calls to the target"});
    Do(action::RunPreflight{});
  }

  void On(const event::PreflightDone& e) {
    if (s_.phase != RunPhase::kPreflight) return;
    if (!e.status.ok()) {
      return Finish(ExitCode::kCouldNotRun,
                    "preflight blocks: " + std::string(MessageOf(e.status)));
    }
    Do(action::Say{std::string("preflight: ok")});
    s_.phase = RunPhase::kGather;
    if (!s_.lost.empty()) {
      Do(action::Say{"waiting for another agent in the place of " + AgentNames(s_, s_.lost)});
    }
    Do(action::GatherFleet{});
    Do(action::SetDeadline{settings_.gather_limit});
    PrepareRunIfGathered();
  }

  void On(const event::AgentFailedToStart& e) {
    if (s_.phase == RunPhase::kGather) {
      EndRun(ExitCode::kCouldNotRun, e.message, StopKind::kAbort);
    } else if (s_.phase == RunPhase::kReplace) {
      EndRun(ExitCode::kNoData, e.message, StopKind::kDrain);
    }
  }

  void On(const event::FleetComplete& e) {
    s_.fleet_complete = true;
    s_.names = e.names;
    PrepareRunIfGathered();
  }

  void On(const event::RunReadyBy& e) {
    if (s_.phase == RunPhase::kPrepareRun) {
      s_.waiting_for.erase(e.slot);
      if (s_.waiting_for.empty()) MiniEvalsOrStep();
    } else if (s_.phase == RunPhase::kStep) {
      s_.lost.erase(e.slot);  // Replaced before the step that it voided was judged.
    } else if (s_.phase == RunPhase::kReplace) {
      s_.lost.erase(e.slot);
      if (s_.lost.empty()) PrepareStep();
    }
  }

  void On(const event::EvalsAskedBy& e) {
    if (s_.phase != RunPhase::kMiniEvals) return;
    s_.waiting_for.erase(e.slot);
    if (s_.waiting_for.empty()) NextStepOrStop();
  }

  void On(const event::StepReadyBy& e) {
    if (s_.phase != RunPhase::kPrepareStep || e.step != s_.step.step) return;
    s_.waiting_for.erase(e.slot);
    if (!s_.waiting_for.empty()) return;
    s_.phase = RunPhase::kStep;
    s_.prepare_losses = 0;
    WaitFor(settings_.agents);
    Do(action::CommitStep{});
    Do(action::SetDeadline{limits::kStartAhead + s_.step.warm_up + s_.step.measure +
                           s_.step.drain_limit + settings_.slack});
  }

  void On(const event::StepClosedBy& e) {
    if (s_.phase != RunPhase::kStep || e.step != s_.step.step) return;
    s_.waiting_for.erase(e.slot);
    if (s_.waiting_for.empty()) Judge();
  }

  void On(const event::StepJudged& e) {
    if (s_.phase != RunPhase::kStep || !s_.judging) return;
    s_.history.push_back(
        {s_.step.sessions, e.verdict, e.requests_in_flight, s_.origin, e.ends_sweep});
    s_.elapsed = e.elapsed;
    // A step that misses ends the climb by itself, and fewer sessions may still be looked at.
    NextStepOrStop(e.verdict.verdict == Verdict::kFail ? SweepEvent::kNone : e.ends_sweep);
  }

  void On(const event::LookFailed& e) {
    if (s_.phase != RunPhase::kStep || s_.judging || e.step != s_.step.step) return;
    if (s_.origin.failed_early_after || e.measure >= s_.step.measure) return;
    s_.origin.failed_early_after = e.after_blocks;
    s_.origin.measured = e.measure;
    Do(action::Say{"the step is decided: " + e.reason});
    Do(action::EndMeasure{e.measure});
    Do(action::SetDeadline{limits::kStartAhead + settings_.slack});
  }

  void On(const event::AgentLost& e) {
    switch (s_.phase) {
      case RunPhase::kPreflight:
      case RunPhase::kGather:
        Lose(e.slot, e.reason);
        break;
      case RunPhase::kPrepareRun:
      case RunPhase::kMiniEvals:
      case RunPhase::kPrepareStep:
        Lose(e.slot, e.reason);
        if (!TooManyLosses()) Replace();
        break;
      case RunPhase::kReplace:
        Lose(e.slot, e.reason);
        if (!TooManyLosses()) Restart(e.slot);
        break;
      case RunPhase::kStep:
        // The load of this step can never be whole again: it is judged as it stands, which is void.
        Lose(e.slot, e.reason);
        Judge();
        break;
      case RunPhase::kStop:
        s_.waiting_for.erase(e.slot);
        FinishWhenStopped();
        break;
      default:
        break;
    }
  }

  void On(const event::AgentReplaced& e) {
    if (IsEnding(s_.phase)) return;
    Do(action::Say{fmt::format("{}: another one took its place", AgentName(s_, e.slot))});
    if (e.slot < s_.names.size()) s_.names[e.slot] = e.name;
    if (s_.phase == RunPhase::kPreflight || s_.phase == RunPhase::kGather) {
      s_.lost.erase(e.slot);
      return PrepareRunIfGathered();
    }
    Do(action::PrepareRun{e.slot});
  }

  void On(const event::AgentFaulted& e) {
    const std::string what = fmt::format("{}: {}", AgentName(s_, e.slot), e.message);
    if (IsEnding(s_.phase)) return;
    EndRun(s_.history.empty() ? ExitCode::kCouldNotRun : ExitCode::kNoData, what, StopKind::kAbort);
  }

  void On(const event::StoppedBy& e) {
    if (s_.phase != RunPhase::kStop) return;
    s_.waiting_for.erase(e.slot);
    FinishWhenStopped();
  }

  void On(const event::DeploymentBack&) {
    if (s_.phase == RunPhase::kSettle) Finish(s_.end_code, s_.end_reason);
  }

  void On(const event::StoreFailed& e) {
    EndRun(ExitCode::kCouldNotRun, "the store failed: " + e.message, StopKind::kAbort);
  }

  void On(const event::DeadlinePassed&) {
    switch (s_.phase) {
      case RunPhase::kGather:
        EndRun(ExitCode::kCouldNotRun, NotGathered(settings_, s_), StopKind::kAbort);
        break;
      case RunPhase::kPrepareRun:
        EndRun(ExitCode::kCouldNotRun, NotReady(s_, "taken over plan and corpus", kPrepareLimit),
               StopKind::kAbort);
        break;
      case RunPhase::kMiniEvals:
        Do(action::Say{EvalsLate(s_)});
        NextStepOrStop();
        break;
      case RunPhase::kPrepareStep:
        EndRun(ExitCode::kNoData,
               NotReady(s_, "prepared the step", s_.step.prime_limit + settings_.slack),
               StopKind::kDrain);
        break;
      case RunPhase::kReplace:
        EndRun(ExitCode::kNoData, NotReplaced(settings_, s_), StopKind::kDrain);
        break;
      case RunPhase::kStep:
        Do(action::Say{"step not closed in time by " + AgentNames(s_, s_.waiting_for)});
        Judge();
        break;
      case RunPhase::kStop:
        s_.waiting_for.clear();
        FinishWhenStopped();
        break;
      case RunPhase::kSettle:
        Finish(s_.end_code, s_.end_reason);
        break;
      default:
        break;
    }
  }

  void On(const event::StopRequested& e) {
    s_.stop_requests = std::max(s_.stop_requests, e.count);
    if (s_.phase == RunPhase::kPreflight) {
      return Finish(ExitCode::kStopped, "stopped by a signal before the first step");
    }
    if (s_.phase == RunPhase::kDone) return;
    const StopKind kind = e.count > 1 ? StopKind::kAbort : StopKind::kDrain;
    Do(action::Say{StopWords(e.count)});
    EndRun(ExitCode::kStopped, "stopped by a signal", kind);
    if (s_.phase == RunPhase::kSettle) return Finish(s_.end_code, s_.end_reason);
    if (e.count <= 2 || s_.phase != RunPhase::kStop) return;
    s_.waiting_for.clear();
    FinishWhenStopped();
  }

  std::pair<MachineState, std::vector<MachineAction>> Take() {
    return {std::move(s_), std::move(actions_)};
  }

 private:
  void Do(MachineAction action) { actions_.push_back(std::move(action)); }

  void WaitFor(std::uint32_t slots) {
    s_.waiting_for.clear();
    for (std::uint32_t slot = 0; slot < slots; ++slot) s_.waiting_for.insert(slot);
  }

  // Agents may dial in, and leave, before preflight is over.
  void PrepareRunIfGathered() {
    if (s_.phase != RunPhase::kGather || !s_.fleet_complete || !s_.lost.empty()) return;
    Do(action::Say{fmt::format("fleet: {} agents are here", settings_.agents)});
    s_.phase = RunPhase::kPrepareRun;
    WaitFor(settings_.agents);
    for (std::uint32_t slot = 0; slot < settings_.agents; ++slot) Do(action::PrepareRun{slot});
    Do(action::SetDeadline{kPrepareLimit});
  }

  void MiniEvalsOrStep() {
    if (settings_.mini_run.askers == 0) return NextStepOrStop();
    s_.phase = RunPhase::kMiniEvals;
    WaitFor(settings_.mini_run.askers);
    Do(action::AskEvals{settings_.mini_run});
    Do(action::SetDeadline{settings_.mini_run.limit + settings_.slack});
  }

  void NextStepOrStop(SweepEvent event = SweepEvent::kNone) {
    const SweepDecision decision = DecideNext(settings_, s_, event);
    if (decision.kind == SweepDecision::Kind::kStop) return EndSweep(decision);
    SetNextStep(settings_, decision, &s_);
    s_.lost.empty() ? PrepareStep() : Replace();
  }

  // Of the present ladder; then the next one, or the run's end.
  void EndSweep(const SweepDecision& stop) {
    const std::string name = LadderName(settings_, s_.ladder);
    Do(action::Say{
        fmt::format("sweep{}: {}", s_.ladder == 0 ? "" : " of " + name + " alone", stop.reason)});
    if (s_.ladder == 0) s_.mix_end = stop.reason;
    if (!stop.ends_run && s_.ladder < settings_.tier_ladders.size()) {
      ++s_.ladder;
      return NextStepOrStop();
    }
    EndRun(static_cast<ExitCode>(MixVerdict(settings_, s_).exit_code), s_.mix_end,
           StopKind::kDrain);
  }

  void PrepareStep() {
    s_.phase = RunPhase::kPrepareStep;
    s_.step.step = s_.steps_made++;
    s_.judging = false;
    WaitFor(settings_.agents);
    const bool some_end = s_.fresh || s_.step.sessions < s_.lanes;
    s_.lanes = s_.step.sessions;
    Do(action::PrepareStep{s_.step, s_.step_note, s_.fresh});
    Do(action::SetDeadline{(some_end ? s_.step.drain_limit : Duration{0}) + s_.step.prime_limit +
                           settings_.slack});
  }

  void Judge() {
    if (s_.judging) return;
    s_.judging = true;
    Do(action::ClearDeadline{});
    Do(action::JudgeStep{});
  }

  void Lose(std::uint32_t slot, const std::string& reason) {
    s_.lost.insert(slot);
    Do(action::Say{fmt::format("agent {} is lost: {}", slot, reason)});
  }

  // Ends the run if so. One that comes and goes in these phases is no agent to measure with. Before
  // the first step any loss ends the run: see Replace().
  bool TooManyLosses() {
    if (s_.steps_made == 0) return false;
    if (++s_.prepare_losses <= kPrepareLossesMax * settings_.agents) return false;
    EndRun(ExitCode::kNoData,
           fmt::format("agents were lost {} times while a step was prepared", s_.prepare_losses),
           StopKind::kAbort);
    return true;
  }

  void Restart(std::uint32_t slot) {
    if (settings_.local_agents) Do(action::RestartAgent{slot});
  }

  void Replace() {
    // The lanes of an agent that is new have to warm up, whatever the step is.
    s_.step.warm_up = settings_.step.warm_up;
    s_.step.prime_limit = settings_.step.prime_limit;
    if (s_.steps_made == 0) {
      return EndRun(ExitCode::kCouldNotRun, "an agent was lost before the first step",
                    StopKind::kAbort);
    }
    s_.phase = RunPhase::kReplace;
    Do(action::SetDeadline{settings_.replace_limit});
    for (const std::uint32_t slot : s_.lost) Restart(slot);
    if (!settings_.local_agents) {
      Do(action::Say{fmt::format("waiting {:.0f} s for another agent to dial in",
                                 ToSeconds(settings_.replace_limit))});
    }
  }

  void EndRun(ExitCode code, std::string reason, StopKind kind) {
    if (s_.phase == RunPhase::kDone) return;
    const bool stopping = IsEnding(s_.phase);
    TakeEnd(settings_, code, std::move(reason), &s_);
    if (s_.phase == RunPhase::kSettle) return;
    // Who was told to stop is told again only to be quicker, and has no more time for it.
    if (stopping && (kind == StopKind::kDrain || s_.aborting)) return;
    const bool any_agent = s_.phase != RunPhase::kPreflight && s_.phase != RunPhase::kGather;
    // A step that was judged, or waits for its verdict, is whole.
    if (s_.phase == RunPhase::kStep && !s_.judging) Do(action::BreakOffStep{});
    if (!stopping) {
      WaitFor(settings_.agents);
      for (const std::uint32_t slot : s_.lost) s_.waiting_for.erase(slot);
    }
    s_.phase = RunPhase::kStop;
    s_.aborting = kind == StopKind::kAbort;
    if (!any_agent) s_.waiting_for.clear();
    if (s_.waiting_for.empty()) return FinishWhenStopped();
    const Duration drain = kind == StopKind::kDrain ? settings_.step.drain_limit : Duration{0};
    Do(action::StopAgents{kind, drain});
    Do(action::SetDeadline{drain + kStopSlack});
  }

  void FinishWhenStopped() {
    if (!s_.waiting_for.empty()) return;
    if (!settings_.back_limit || s_.steps_made == 0 || s_.stop_requests > 1) {
      return Finish(s_.end_code, s_.end_reason);
    }
    s_.phase = RunPhase::kSettle;
    Do(action::Say{std::string("waiting until the deployment is back where it was")});
    Do(action::AwaitBack{});
    Do(action::SetDeadline{*settings_.back_limit});
  }

  void Finish(ExitCode code, std::string reason) {
    s_.phase = RunPhase::kDone;
    s_.end_code = code;
    s_.end_reason = reason;
    Do(action::ClearDeadline{});
    Do(action::Finish{code, std::move(reason)});
  }

  const RunSettings& settings_;
  MachineState s_;
  std::vector<MachineAction> actions_;
};

}  // namespace

std::pair<MachineState, std::vector<MachineAction>> RunMachine::Next(const RunSettings& settings,
                                                                     MachineState state,
                                                                     const MachineEvent& event) {
  Transition transition(settings, std::move(state));
  std::visit([&](const auto& e) { transition.On(e); }, event);
  return transition.Take();
}

std::vector<MachineAction> RunMachine::Apply(const MachineEvent& event) {
  auto [state, actions] = Next(settings_, std::move(state_), event);
  state_ = std::move(state);
  return actions;
}

}  // namespace plimsoll
