#include "coordinator/cli/run_hooks.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "common/base/real_clock.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/recover.h"

namespace plimsoll {
namespace {

IntentSpec SpecOf(const std::string& run_id, const LoadedScenario& loaded) {
  IntentSpec spec;
  spec.run_id = run_id;
  spec.scenario = loaded.scenario.name;
  std::string digests;
  for (const RecipeFile& file : loaded.recipe.files) {
    spec.recipe += (spec.recipe.empty() ? "" : "\n") + file.path;
    digests += file.digest + "\n";
  }
  if (!digests.empty()) spec.recipe_digest = Sha256Hex(digests);
  spec.hooks = loaded.scenario.hooks;
  spec.rules.grace = loaded.scenario.guardian_grace;
  return spec;
}

}  // namespace

KeptHooks::KeptHooks(EventLoop& loop, const Clock& clock, RunRepo& repo,
                     std::unique_ptr<RunIntent> intent)
    : repo_(repo),
      intent_(std::move(intent)),
      hooks_(std::make_unique<ProcessHooks>(loop, clock, *intent_)) {}

StatusOr<std::unique_ptr<KeptHooks>> KeptHooks::Start(EventLoop& loop, const Clock& clock,
                                                      RunRepo& repo, const std::string& program,
                                                      const std::string& store_folder,
                                                      const std::string& run_id,
                                                      const LoadedScenario& loaded,
                                                      std::function<void(const std::string&)> say) {
  ASSIGN_OR_RETURN(auto intent,
                   RunIntent::Create(store_folder, SpecOf(run_id, loaded), clock.WallNow()));
  auto kept = std::make_unique<KeptHooks>(loop, clock, repo, std::move(intent));
  auto guardian = GuardianKeeper::Start(loop, program, store_folder, run_id, std::move(say));
  if (!guardian.ok()) {
    (void)kept->intent_->Remove();  // Nothing was begun.
    return guardian.status();
  }
  kept->guardian_ = *std::move(guardian);
  return kept;
}

void KeptHooks::Keep(const HookOutcome& outcome) {
  (void)repo_.PutHook(intent_->facts().spec.run_id, outcome);
}

std::optional<RollbackState> KeptHooks::Rollback(ExitCode code) const {
  if (code == ExitCode::kRollbackFailed) return RollbackState::kFailed;
  if (intent_->facts().Succeeded(HookPhase::kRollBack)) return RollbackState::kDone;
  return std::nullopt;
}

void KeptHooks::Settle(ExitCode code) {
  if (code == ExitCode::kRollbackFailed) {
    (void)intent_->SetState(IntentState::kFailed);
  } else {
    const bool promoted = !intent_->facts().Succeeded(HookPhase::kRollBack) &&
                          intent_->facts().Succeeded(HookPhase::kPromote);
    // Without any hook nothing was begun.
    (void)intent_->SetState(promoted ? IntentState::kPromoted : IntentState::kRolledBack);
    (void)intent_->Remove();
  }
  guardian_->Dismiss();
}

Status RecoverFirst(const std::string& store_folder, Store& store) {
  const RealClock clock;
  const auto say = [](const std::string& line) {
    std::fprintf(stderr, "plimsoll: %s\n", line.c_str());
  };
  ASSIGN_OR_RETURN(const RecoverReport report,
                   RecoverUnfinished(store_folder, store, clock, {.run = "", .say = say}));
  if (!report.failed()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "an earlier run is not rolled back, so nothing is begun: mend what its hook says, then "
      "plimsoll recover");
}

}  // namespace plimsoll
