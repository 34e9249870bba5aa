#include "coordinator/cli/baselines.h"

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "coordinator/planning/baseline_bar.h"
#include "coordinator/scenario/scenario_reader.h"
#include "coordinator/store/rocks_store.h"

namespace plimsoll {
namespace {

StatusOr<BaselineRun> ReadRun(const RunRepo& repo, const RunInfo& info, std::uint32_t sessions) {
  BaselineRun run{.id = info.id, .corpus_digest = info.corpus_digest};
  if (info.state == RunState::kRunning) {
    return absl::InvalidArgumentError("it has not ended (it goes on, or its coordinator died)");
  }
  const auto recipe = repo.GetRecipe(info.id);
  if (!recipe.ok() && !absl::IsNotFound(recipe.status())) return recipe.status();
  if (recipe.ok()) {
    for (const RecipeFile& file : recipe->files) run.recipe.push_back(file.digest);
  }
  ASSIGN_OR_RETURN(run.scenario, ParseScenario(info.scenario_text, "its scenario", ""));
  ASSIGN_OR_RETURN(std::vector<StepRow> rows, repo.Steps(info.id));
  for (StepRow& row : rows) {
    const StepPlan plan = row.summary.plan;
    if (row.summary.origin.ladder != kMixLadder) continue;  // Another load.
    run.sessions.push_back(plan.sessions);
    if (plan.sessions != sessions) continue;
    ASSIGN_OR_RETURN(std::vector<Cell> cells, repo.Cells(info.id, plan.step));
    // An extension is kept with its own cells and judged together with what it extends.
    if (row.summary.origin.kind == StepKind::kExtension && !run.steps.empty()) {
      const std::vector<Cell>& first = run.steps.back().cells;
      cells.insert(cells.begin(), first.begin(), first.end());
    }
    run.steps.push_back({.summary = std::move(row.summary), .cells = std::move(cells)});
  }
  return run;
}

}  // namespace

bool NamesBaselines(const LoadedScenario& loaded) {
  return !BaselinesOf(loaded.scenario.bar).runs.empty();
}

Status ReadBaselines(const RunRepo& repo, LoadedScenario* loaded) {
  const BaselineAsked asked = BaselinesOf(loaded->scenario.bar);
  if (asked.runs.empty()) return absl::OkStatus();
  std::vector<BaselineRun> runs;
  std::string wrong;
  for (const std::string& id : asked.runs) {
    const auto info = repo.FindRun(id);
    if (!info.ok()) {
      wrong += fmt::format(
          "{}baseline run '{}': {}; name one that `plimsoll runs list` shows for this store",
          wrong.empty() ? "" : "\n", id, MessageOf(info.status()));
      continue;
    }
    auto run = ReadRun(repo, *info, asked.sessions);
    if (run.ok()) {
      runs.push_back(*std::move(run));
    } else {
      wrong += fmt::format("{}baseline run {}: {}; run the baseline again and name that run",
                           wrong.empty() ? "" : "\n", info->id, MessageOf(run.status()));
    }
  }
  if (!wrong.empty()) return absl::InvalidArgumentError(wrong);
  ASSIGN_OR_RETURN(loaded->scenario.bar, ResolveBar(loaded->scenario, loaded->corpus_digest, runs));
  loaded->baseline_doubts = BaselineDoubts(runs);
  return absl::OkStatus();
}

Status ReadBaselines(const std::string& folder, LoadedScenario* loaded) {
  if (!NamesBaselines(*loaded)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                   OpenRocksStore(folder, StoreAccess::kReadOnly));
  return ReadBaselines(RunRepo(*store), loaded);
}

}  // namespace plimsoll
