// A run's hooks as its coordinator has them: the durable intent and the guardian first, then the
// hooks, and at the end what is still owed. One object from before the rollout to after the
// rollback.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/loop/event_loop.h"
#include "coordinator/hooks/guardian.h"
#include "coordinator/hooks/process_hooks.h"
#include "coordinator/hooks/run_intent.h"

namespace plimsoll {

struct HookedRunDeps {
  EventLoop& loop;
  const Clock& clock;
  std::string store_folder;
  std::string program;  // plimsoll's own path, for the guardian.
  std::function<void(const std::string&)> say;
};

class HookedRun {
 public:
  // Once it is OK, the rollback happens whatever becomes of this process. Errors of
  // RunIntent::Create() and GuardianKeeper::Start(): nothing is left behind, and nothing may be
  // rolled out.
  static StatusOr<std::unique_ptr<HookedRun>> Begin(HookedRunDeps deps, const IntentSpec& spec);
  // Lets go of the intent. Without Settle() the guardian rolls back after its grace.
  ~HookedRun();

  // Starts its hooks, one at a time; HookTries starts them again.
  HookPort& port() { return hooks_; }

  // The run is over, the store has every outcome. kRolledBack, kPromoted: nothing is owed, the
  // intent goes and the guardian with it. kFailed: it is kept, `plimsoll recover` tries again.
  Status Settle(IntentState state);

 private:
  HookedRun(HookedRunDeps deps, std::unique_ptr<RunIntent> intent);

  HookedRunDeps deps_;
  std::unique_ptr<RunIntent> intent_;
  std::unique_ptr<GuardianKeeper> guardian_;
  ProcessHooks hooks_;
};

}  // namespace plimsoll
