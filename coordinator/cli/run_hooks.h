// The hooks of a run with all that keeps them: the intent to roll back, its guardian, the store's
// record of each start. Effects at the edge of run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/status.h"
#include "common/loop/event_loop.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/hooks/hooked_run.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {

class KeptHooks {
 public:
  // The intent is durable and a guardian watches once this is OK: only then may anything begin. All
  // that is referred to outlives the object. `program` is plimsoll's path.
  static StatusOr<std::unique_ptr<KeptHooks>> Start(EventLoop& loop, const Clock& clock,
                                                    RunRepo& repo, const std::string& program,
                                                    const std::string& store_folder,
                                                    const std::string& run_id,
                                                    const LoadedScenario& loaded,
                                                    std::function<void(const std::string&)> say);

  // Use Start(): the intent must be guarded.
  KeptHooks(RunRepo& repo, std::string run_id, std::unique_ptr<HookedRun> run);

  HookPort& port() { return run_->port(); }
  // Each start of a hook, as it ended. A store that fails says so on the next batch; the intent has
  // it too.
  void Keep(const HookOutcome& outcome);
  // How the rollback stands at the run's end; absent: none is owed.
  std::optional<RollbackState> Rollback(ExitCode code) const;
  // The store has the run's end: the intent is settled, and the guardian let go. One whose rollback
  // failed stays, for `plimsoll recover`.
  void Settle(ExitCode code);

 private:
  RunRepo& repo_;
  const std::string run_id_;
  std::unique_ptr<HookedRun> run_;
  bool rolled_back_ = false;  // The hook ended well.
  bool promoted_ = false;     // Likewise.
};

// What earlier coordinators owe comes first: the deployment may still be theirs. Rolls back, tells
// the store, and says so on standard error. FailedPrecondition: a rollback failed, so nothing is to
// begin; else what is wrong with the store.
Status RecoverFirst(const std::string& store_folder, Store& store);

}  // namespace plimsoll
