#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/run/machine_step.h"
#include "coordinator/run/run_words.h"
#include "coordinator/run/transition.h"
#include "coordinator/run/window_budget.h"

namespace plimsoll {
namespace {

RunPhase PhaseOf(HookPhase hook) {
  switch (hook) {
    case HookPhase::kRollout:
      return RunPhase::kRollout;
    case HookPhase::kPromote:
      return RunPhase::kPromote;
    case HookPhase::kRollBack:
      break;
  }
  return RunPhase::kRollBack;
}

HookPhase HookOf(RunPhase phase) {
  return phase == RunPhase::kRollout   ? HookPhase::kRollout
         : phase == RunPhase::kPromote ? HookPhase::kPromote
                                       : HookPhase::kRollBack;
}

}  // namespace

void Transition::On(const event::AgentFaulted& e) {
  const std::string what = fmt::format("{}: {}", AgentName(s_, e.slot), e.message);
  if (IsEnding(s_.phase)) return;
  EndRun(s_.history.empty() ? ExitCode::kCouldNotRun : ExitCode::kNoData, what, StopKind::kAbort);
}

void Transition::On(const event::StoppedBy& e) {
  if (s_.phase != RunPhase::kStop) return;
  s_.waiting_for.erase(e.slot);
  FinishWhenStopped();
}

void Transition::On(const event::DeploymentBack&) {
  if (s_.phase == RunPhase::kSettle) Finish(s_.end_code, s_.end_reason);
}

void Transition::On(const event::StoreFailed& e) {
  EndRun(ExitCode::kCouldNotRun, "the store failed: " + e.message, StopKind::kAbort);
}

void Transition::On(const event::WindowCloses&) {
  if (IsEnding(s_.phase)) return;
  if (s_.history.empty()) {
    return EndRun(s_.phase == RunPhase::kRollout ? ExitCode::kCouldNotRun : ExitCode::kNoData,
                  "the window was over before a step was judged: what is left of it is the "
                  "rollback's",
                  StopKind::kDrain);
  }
  const TargetVerdict mix = MixVerdict(settings_, s_);
  EndRun(
      static_cast<ExitCode>(mix.exit_code),
      fmt::format("{}; then the window was over: what is left of it is the rollback's", mix.reason),
      StopKind::kDrain);
}

void Transition::On(const event::KillSwitchTripped& e) {
  if (s_.phase == RunPhase::kDone || s_.phase == RunPhase::kRollBack) return;
  Do(action::Say{"kill switch: " + e.reason});
  EndRun(ExitCode::kStopped, "kill switch: " + e.reason, StopKind::kAbort);
  if (s_.phase == RunPhase::kPromote) return Do(action::AbortHook{});
  if (s_.phase == RunPhase::kSettle) Finish(s_.end_code, s_.end_reason);
}

void Transition::On(const event::StopRequested& e) {
  s_.stop_requests = std::max(s_.stop_requests, e.count);
  if (s_.phase == RunPhase::kDone) return;
  if (s_.phase == RunPhase::kRollBack) {
    return Do(action::Say{"the rollback goes on to its end: it is not interrupted"});
  }
  if (s_.phase == RunPhase::kPreflight) {
    return Finish(ExitCode::kStopped, "stopped by a signal before the first step");
  }
  const StopKind kind = e.count > 1 ? StopKind::kAbort : StopKind::kDrain;
  Do(action::Say{StopWords(e.count)});
  EndRun(ExitCode::kStopped, "stopped by a signal", kind);
  if (s_.phase == RunPhase::kPromote) return Do(action::AbortHook{});
  if (s_.phase == RunPhase::kSettle) return Finish(s_.end_code, s_.end_reason);
  if (e.count <= 2 || s_.phase != RunPhase::kStop) return;
  s_.waiting_for.clear();
  FinishWhenStopped();
}

void Transition::On(const event::HookEnded& e) {
  if (s_.phase != PhaseOf(e.phase)) return;
  Do(action::ClearDeadline{});
  Do(action::Say{e.words});
  switch (e.phase) {
    case HookPhase::kRollout:
      if (s_.interrupted) return Finish(s_.end_code, s_.end_reason);
      if (e.ok) return RunPreflight();
      return Finish(ExitCode::kCouldNotRun, e.words);
    case HookPhase::kPromote:
      if (e.ok) return Close();
      TakeEnd(settings_, ExitCode::kCouldNotRun, fmt::format("{}; {}", s_.end_reason, e.words),
              &s_);
      return RollBackOrClose();
    case HookPhase::kRollBack:
      if (!e.ok) {
        s_.end_code = ExitCode::kRollbackFailed;
        s_.end_reason =
            fmt::format("{}: the deployment is not what it was; {}", e.words, s_.end_reason);
      }
      return Close();
  }
}

void Transition::EndRun(ExitCode code, std::string reason, StopKind kind) {
  if (s_.phase == RunPhase::kDone || s_.phase == RunPhase::kRollBack) return;
  if (s_.phase == RunPhase::kRollout) return InterruptRollout(code, std::move(reason));
  const bool stopping = IsEnding(s_.phase);
  TakeEnd(settings_, code, std::move(reason), &s_);
  if (s_.phase == RunPhase::kSettle || s_.phase == RunPhase::kPromote) return;
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

void Transition::FinishWhenStopped() {
  if (!s_.waiting_for.empty()) return;
  if (!settings_.back_limit || s_.steps_made == 0 || s_.stop_requests > 1) {
    return Finish(s_.end_code, s_.end_reason);
  }
  s_.phase = RunPhase::kSettle;
  Do(action::Say{std::string("waiting until the deployment is back where it was")});
  Do(action::AwaitBack{});
  Do(action::SetDeadline{*settings_.back_limit});
}

// What the hook has begun is taken back once nothing of it lives.
void Transition::InterruptRollout(ExitCode code, std::string reason) {
  if (s_.interrupted && Precedence(code) <= Precedence(s_.end_code)) return;
  s_.end_code = code;
  s_.end_reason = std::move(reason);
  if (!std::exchange(s_.interrupted, true)) Do(action::AbortHook{});
}

// Nothing is measured any more: the deployment goes on to be promoted, or back to what it was.
void Transition::Finish(ExitCode code, std::string reason) {
  s_.end_code = code;
  s_.end_reason = std::move(reason);
  Do(action::ClearDeadline{});
  if (settings_.hooks.promote && code == ExitCode::kHeld) return RunHook(HookPhase::kPromote);
  RollBackOrClose();
}

void Transition::RunHook(HookPhase hook) {
  s_.phase = PhaseOf(hook);
  s_.hook_overdue = false;
  const Duration limit = HookTime(settings_, hook);
  Do(action::Say{fmt::format("{}: its hook has {}", Name(hook), ShortTime(limit - kHookSlack))});
  Do(action::RunHook{hook, VerdictForHooks(settings_, s_), s_.end_reason});
  Do(action::SetDeadline{limit});
}

// Hooks keep their own deadlines; this is for one that cannot be ended.
void Transition::HookIsLate() {
  if (!std::exchange(s_.hook_overdue, true)) {
    Do(action::AbortHook{});
    return Do(action::SetDeadline{kHookSlack});
  }
  // No rollback beside a live hook: it is left to who comes after this process.
  s_.end_code = ExitCode::kRollbackFailed;
  s_.end_reason =
      fmt::format("the {} hook cannot be ended, so nothing was rolled back{}{}",
                  Name(HookOf(s_.phase)), s_.end_reason.empty() ? "" : "; ", s_.end_reason);
  Close();
}

void Transition::RollBackOrClose() {
  if (settings_.hooks.rollback) return RunHook(HookPhase::kRollBack);
  Close();
}

void Transition::Close() {
  s_.phase = RunPhase::kDone;
  Do(action::ClearDeadline{});
  Do(action::Finish{s_.end_code, s_.end_reason});
}

}  // namespace plimsoll
