// What is owed for a run whose coordinator died: its hooks ended first, then rolled back, with
// tries. The guardian and `plimsoll recover` do the same thing, this.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/loop/event_loop.h"
#include "coordinator/hooks/hook_ender.h"
#include "coordinator/hooks/hook_tries.h"
#include "coordinator/hooks/process_hooks.h"
#include "coordinator/hooks/run_intent.h"

namespace plimsoll {

class Recovery {
 public:
  // `intent` has been taken over. `say` gets a sentence for each thing that was done, as it is; the
  // intent keeps them.
  Recovery(EventLoop& loop, const Clock& clock, std::unique_ptr<RunIntent> intent,
           std::function<void(const std::string&)> say);

  // `done` once, in a later turn, with the state that the intent is left in, never kOpen: a
  // rollback or promotion that had ended well before is found and not made again. It may destroy
  // the object.
  void Start(std::function<void(IntentState)> done);
  const Intent& facts() const { return intent_->facts(); }

 private:
  void Say(const std::string& text);
  void OnHooksEnded();
  void CloseOrphans();
  void RollBack();
  void End(IntentState state);

  const Clock& clock_;
  std::unique_ptr<RunIntent> intent_;
  std::function<void(const std::string&)> say_;
  HookEnder ender_;
  ProcessHooks hooks_;
  HookTries tries_;
  std::function<void(IntentState)> done_;
};

}  // namespace plimsoll
