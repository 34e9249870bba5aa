#include "coordinator/hooks/recovery.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/text.h"

namespace plimsoll {
namespace {

TryRules RulesOf(const IntentSpec& spec) {
  return {.tries = spec.hooks.rollback.tries,
          .wait = spec.rules.retry_wait,
          .wait_max = spec.rules.retry_wait_max};
}

}  // namespace

Recovery::Recovery(EventLoop& loop, const Clock& clock, std::unique_ptr<RunIntent> intent,
                   std::function<void(const std::string&)> say)
    : clock_(clock),
      intent_(std::move(intent)),
      say_(std::move(say)),
      ender_(loop, intent_->trail(), intent_->facts().spec.rules.kill_after),
      hooks_(loop, clock, *intent_),
      tries_(hooks_, loop, RulesOf(intent_->facts().spec)) {}

void Recovery::Start(std::function<void(IntentState)> done) {
  done_ = std::move(done);
  ender_.End([this](bool) { OnHooksEnded(); });
}

void Recovery::Say(const std::string& text) {
  (void)intent_->Say(clock_.WallNow(), text);  // What cannot be written is said all the same.
  say_(text);
}

void Recovery::OnHooksEnded() {
  CloseOrphans();
  if (facts().Succeeded(HookPhase::kRollBack)) {
    Say("its rollback had ended well");
    return End(IntentState::kRolledBack);
  }
  if (facts().Succeeded(HookPhase::kPromote)) {
    Say("its promotion had ended well: nothing to roll back");
    return End(IntentState::kPromoted);
  }
  RollBack();
}

void Recovery::CloseOrphans() {
  const std::vector<NotedHook> hooks = facts().hooks;
  for (const NotedHook& hook : hooks) {
    if (hook.ended) continue;
    HookOutcome outcome = hook.outcome;
    outcome.state = HookState::kKilled;
    outcome.duration = std::max(Duration{}, clock_.WallNow() - outcome.started);
    outcome.note = "its coordinator died; how it ended nobody saw";
    (void)intent_->NoteEnd(outcome);
    Say(fmt::format("the {} hook (attempt {}) of the run that broke off is gone",
                    Name(outcome.phase), outcome.attempt));
  }
}

void Recovery::RollBack() {
  const HookCall call{.phase = HookPhase::kRollBack,
                      .attempt = facts().NextAttempt(HookPhase::kRollBack),
                      .verdict = "interrupted",
                      .reason = "the coordinator died before the run was over"};
  Say(fmt::format("rolling back: {}", Printable(facts().spec.hooks.rollback.argv[0])));
  tries_.Run(
      call, [this](const HookOutcome& outcome) { Say(HookSentence(outcome)); },
      [this](const HookOutcome& last) {
        if (last.ok()) {
          Say("rolled back");
          return End(IntentState::kRolledBack);
        }
        Say(
            fmt::format("ROLLBACK FAILED for good: the deployment may still be what the run left. "
                        "What the hook wrote is in {}. Try again with: plimsoll recover {}",
                        intent_->OutputPath(last.phase, last.attempt), facts().spec.run_id));
        End(IntentState::kFailed);
      });
}

void Recovery::End(IntentState state) {
  if (const Status kept = intent_->SetState(state); !kept.ok()) {
    say_(fmt::format("that could not be written down: {}", MessageOf(kept)));
  }
  const auto done = std::exchange(done_, nullptr);
  done(state);
}

}  // namespace plimsoll
