#include "coordinator/run/run_machine.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/limits.h"
#include "coordinator/run/ladders.h"
#include "coordinator/run/machine_step.h"
#include "coordinator/run/run_words.h"
#include "coordinator/run/transition.h"
#include "coordinator/run/window_budget.h"

namespace plimsoll {
namespace {

constexpr Duration kPrepareLimit = 60s;
// An agent that dies of the step it prepares would die of it again and again, each time restarted.
constexpr std::uint32_t kPrepareLossesMax = 2;

}  // namespace

void Transition::On(const event::Begin&) {
  if (std::exchange(s_.begun, true)) return;
  if (std::string why = WhyWindowIsTooShort(settings_); !why.empty()) {
    s_.end_code = ExitCode::kCouldNotRun;
    s_.end_reason = std::move(why);
    return Close();  // Nothing was begun, so there is nothing to take back.
  }
  if (settings_.window) Do(action::SetWindowEnd{MeasuringTime(settings_)});
  if (settings_.hooks.rollout) return RunHook(HookPhase::kRollout);
  RunPreflight();
}

void Transition::RunPreflight() {
  s_.phase = RunPhase::kPreflight;
  Do(action::Say{"preflight: a few calls to the target"});
  Do(action::RunPreflight{});
}

void Transition::On(const event::PreflightDone& e) {
  if (s_.phase != RunPhase::kPreflight) return;
  if (!e.status.ok()) {
    return Finish(ExitCode::kCouldNotRun, "preflight blocks: " + std::string(MessageOf(e.status)));
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

void Transition::On(const event::AgentFailedToStart& e) {
  if (s_.phase == RunPhase::kGather) {
    EndRun(ExitCode::kCouldNotRun, e.message, StopKind::kAbort);
  } else if (s_.phase == RunPhase::kReplace) {
    EndRun(ExitCode::kNoData, e.message, StopKind::kDrain);
  }
}

void Transition::On(const event::FleetComplete& e) {
  s_.fleet_complete = true;
  s_.names = e.names;
  PrepareRunIfGathered();
}

void Transition::On(const event::RunReadyBy& e) {
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

void Transition::On(const event::EvalsAskedBy& e) {
  if (s_.phase != RunPhase::kMiniEvals) return;
  s_.waiting_for.erase(e.slot);
  if (s_.waiting_for.empty()) NextStepOrStop();
}

void Transition::On(const event::StepReadyBy& e) {
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

void Transition::On(const event::StepClosedBy& e) {
  if (s_.phase != RunPhase::kStep || e.step != s_.step.step) return;
  s_.waiting_for.erase(e.slot);
  if (s_.waiting_for.empty()) Judge();
}

void Transition::On(const event::StepJudged& e) {
  if (s_.phase != RunPhase::kStep || !s_.judging) return;
  s_.history.push_back(
      {s_.step.sessions, e.verdict, e.requests_in_flight, s_.origin, e.ends_sweep});
  s_.elapsed = e.elapsed;
  // A step that misses ends the climb by itself, and fewer sessions may still be looked at.
  NextStepOrStop(e.verdict.verdict == Verdict::kFail ? SweepEvent::kNone : e.ends_sweep);
}

void Transition::On(const event::LookFailed& e) {
  if (s_.phase != RunPhase::kStep || s_.judging || e.step != s_.step.step) return;
  if (s_.origin.failed_early_after || e.measure >= s_.step.measure) return;
  s_.origin.failed_early_after = e.after_blocks;
  s_.origin.measured = e.measure;
  Do(action::Say{"the step is decided: " + e.reason});
  Do(action::EndMeasure{e.measure});
  Do(action::SetDeadline{limits::kStartAhead + settings_.slack});
}

void Transition::On(const event::AgentLost& e) {
  switch (s_.phase) {
    case RunPhase::kRollout:
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

void Transition::On(const event::AgentReplaced& e) {
  if (IsEnding(s_.phase)) return;
  Do(action::Say{fmt::format("{}: another one took its place", AgentName(s_, e.slot))});
  if (e.slot < s_.names.size()) s_.names[e.slot] = e.name;
  if (s_.phase == RunPhase::kRollout || s_.phase == RunPhase::kPreflight ||
      s_.phase == RunPhase::kGather) {
    s_.lost.erase(e.slot);
    return PrepareRunIfGathered();
  }
  Do(action::PrepareRun{e.slot});
}

void Transition::On(const event::DeadlinePassed&) {
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
    case RunPhase::kRollout:
    case RunPhase::kPromote:
    case RunPhase::kRollBack:
      HookIsLate();
      break;
    default:
      break;
  }
}

void Transition::WaitFor(std::uint32_t slots) {
  s_.waiting_for.clear();
  for (std::uint32_t slot = 0; slot < slots; ++slot) s_.waiting_for.insert(slot);
}

// Agents may dial in, and leave, before preflight is over.
void Transition::PrepareRunIfGathered() {
  if (s_.phase != RunPhase::kGather || !s_.fleet_complete || !s_.lost.empty()) return;
  Do(action::Say{fmt::format("fleet: {} agents are here", settings_.agents)});
  s_.phase = RunPhase::kPrepareRun;
  WaitFor(settings_.agents);
  for (std::uint32_t slot = 0; slot < settings_.agents; ++slot) Do(action::PrepareRun{slot});
  Do(action::SetDeadline{kPrepareLimit});
}

void Transition::MiniEvalsOrStep() {
  if (settings_.mini_run.askers == 0) return NextStepOrStop();
  s_.phase = RunPhase::kMiniEvals;
  WaitFor(settings_.mini_run.askers);
  Do(action::AskEvals{settings_.mini_run});
  Do(action::SetDeadline{settings_.mini_run.limit + settings_.slack});
}

void Transition::NextStepOrStop(SweepEvent event) {
  const SweepDecision decision = DecideNext(settings_, s_, event);
  if (decision.kind == SweepDecision::Kind::kStop) return EndSweep(decision);
  SetNextStep(settings_, decision, &s_);
  s_.lost.empty() ? PrepareStep() : Replace();
}

// Of the present ladder; then the next one, or the run's end.
void Transition::EndSweep(const SweepDecision& stop) {
  const std::string name = LadderName(settings_, s_.ladder);
  Do(action::Say{
      fmt::format("sweep{}: {}", s_.ladder == 0 ? "" : " of " + name + " alone", stop.reason)});
  if (s_.ladder == 0) s_.mix_end = stop.reason;
  if (!stop.ends_run && s_.ladder < settings_.tier_ladders.size()) {
    ++s_.ladder;
    return NextStepOrStop();
  }
  EndRun(static_cast<ExitCode>(MixVerdict(settings_, s_).exit_code), s_.mix_end, StopKind::kDrain);
}

void Transition::PrepareStep() {
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

void Transition::Judge() {
  if (s_.judging) return;
  s_.judging = true;
  Do(action::ClearDeadline{});
  Do(action::JudgeStep{});
}

void Transition::Lose(std::uint32_t slot, const std::string& reason) {
  s_.lost.insert(slot);
  Do(action::Say{fmt::format("agent {} is lost: {}", slot, reason)});
}

// Ends the run if so. One that comes and goes in these phases is no agent to measure with. Before
// the first step any loss ends the run: see Replace().
bool Transition::TooManyLosses() {
  if (s_.steps_made == 0) return false;
  if (++s_.prepare_losses <= kPrepareLossesMax * settings_.agents) return false;
  EndRun(ExitCode::kNoData,
         fmt::format("agents were lost {} times while a step was prepared", s_.prepare_losses),
         StopKind::kAbort);
  return true;
}

void Transition::Restart(std::uint32_t slot) {
  if (settings_.local_agents) Do(action::RestartAgent{slot});
}

void Transition::Replace() {
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

std::pair<MachineState, std::vector<MachineAction>> RunMachine::Next(const RunSettings& settings,
                                                                     MachineState state,
                                                                     const MachineEvent& event,
                                                                     Duration now) {
  state.now = now;
  Transition transition(settings, std::move(state));
  std::visit([&](const auto& e) { transition.On(e); }, event);
  return transition.Take();
}

std::vector<MachineAction> RunMachine::Apply(const MachineEvent& event, Duration now) {
  auto [state, actions] = Next(settings_, std::move(state_), event, now);
  state_ = std::move(state);
  return actions;
}

}  // namespace plimsoll
