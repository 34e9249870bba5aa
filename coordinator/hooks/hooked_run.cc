#include "coordinator/hooks/hooked_run.h"

#include <utility>

namespace plimsoll {

HookedRun::HookedRun(HookedRunDeps deps, std::unique_ptr<RunIntent> intent)
    : deps_(std::move(deps)),
      intent_(std::move(intent)),
      hooks_(deps_.loop, deps_.clock, *intent_) {}

HookedRun::~HookedRun() = default;

StatusOr<std::unique_ptr<HookedRun>> HookedRun::Begin(HookedRunDeps deps, const IntentSpec& spec) {
  ASSIGN_OR_RETURN(auto intent, RunIntent::Create(deps.store_folder, spec, deps.clock.WallNow()));
  auto guardian =
      GuardianKeeper::Start(deps.loop, deps.program, intent->store_folder(), spec.run_id, deps.say);
  if (!guardian.ok()) {
    (void)intent->Remove();
    return guardian.status();
  }
  auto run = std::unique_ptr<HookedRun>(new HookedRun(std::move(deps), std::move(intent)));
  run->guardian_ = *std::move(guardian);
  return run;
}

Status HookedRun::Settle(IntentState state) {
  // The guardian is told last: it looks at what is written.
  Status kept = state == IntentState::kRolledBack || state == IntentState::kPromoted
                    ? intent_->Remove()
                    : intent_->SetState(state);
  guardian_->Dismiss();
  return kept;
}

}  // namespace plimsoll
