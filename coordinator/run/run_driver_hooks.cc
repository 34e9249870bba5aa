// The run driver's hooks and its window.
#include <utility>

#include "coordinator/run/run_driver.h"

namespace plimsoll {

void RunDriver::Do(const action::RunHook& a) {
  const HookSpec& spec = spec_.hooks.of(a.phase);
  tries_ =
      std::make_unique<HookTries>(*deps_.hooks, deps_.scheduler, TryRules{.tries = spec.tries});
  tries_->Run(
      {.phase = a.phase, .verdict = a.verdict, .reason = a.reason},
      [this](const HookOutcome& outcome) {
        if (deps_.hook_ended) deps_.hook_ended(outcome);
      },
      [this](const HookOutcome& last) {
        const event::HookEnded ended{last.phase, last.ok(), HookSentence(last)};
        // The next hook's tries take the place of these.
        hook_done_ = deps_.scheduler.After(Duration{0}, [this, ended] { Feed(ended); });
      });
}

void RunDriver::Do(const action::AbortHook&) {
  if (tries_ != nullptr) tries_->Stop();
}

void RunDriver::Do(const action::SetWindowEnd& a) {
  window_ = deps_.scheduler.After(a.after, [this] { Feed(event::WindowCloses{}); });
}

}  // namespace plimsoll
