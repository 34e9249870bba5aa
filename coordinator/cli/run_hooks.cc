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

KeptHooks::KeptHooks(RunRepo& repo, std::string run_id, std::unique_ptr<HookedRun> run)
    : repo_(repo), run_id_(std::move(run_id)), run_(std::move(run)) {}

StatusOr<std::unique_ptr<KeptHooks>> KeptHooks::Start(EventLoop& loop, const Clock& clock,
                                                      RunRepo& repo, const std::string& program,
                                                      const std::string& store_folder,
                                                      const std::string& run_id,
                                                      const LoadedScenario& loaded,
                                                      std::function<void(const std::string&)> say) {
  ASSIGN_OR_RETURN(auto run, HookedRun::Begin({.loop = loop,
                                               .clock = clock,
                                               .store_folder = store_folder,
                                               .program = program,
                                               .say = std::move(say)},
                                              SpecOf(run_id, loaded)));
  return std::make_unique<KeptHooks>(repo, run_id, std::move(run));
}

void KeptHooks::Keep(const HookOutcome& outcome) {
  (void)repo_.PutHook(run_id_, outcome);
  rolled_back_ = rolled_back_ || (outcome.phase == HookPhase::kRollBack && outcome.ok());
  promoted_ = promoted_ || (outcome.phase == HookPhase::kPromote && outcome.ok());
}

std::optional<RollbackState> KeptHooks::Rollback(ExitCode code) const {
  if (code == ExitCode::kRollbackFailed) return RollbackState::kFailed;
  if (rolled_back_) return RollbackState::kDone;
  return std::nullopt;
}

void KeptHooks::Settle(ExitCode code) {
  const bool failed = code == ExitCode::kRollbackFailed;
  const bool promoted = promoted_ && !rolled_back_;
  // Without any hook nothing was begun, so nothing is owed.
  (void)run_->Settle(failed     ? IntentState::kFailed
                     : promoted ? IntentState::kPromoted
                                : IntentState::kRolledBack);
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
