#include "coordinator/cli/compare_command.h"

#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "coordinator/api/run_view.h"
#include "coordinator/cli/corpus_files.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/judge/join_evidence.h"
#include "coordinator/report/compare_json.h"
#include "coordinator/report/compare_text.h"
#include "coordinator/report/run_report.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/scenario/scenario_reader.h"
#include "coordinator/store/rocks_store.h"

namespace plimsoll {
namespace {

int Fail(const Status& status) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return static_cast<int>(absl::IsInternal(status) ? ExitCode::kInternal : ExitCode::kUsage);
}

// What the store keeps of the run's cells, step by step. A store of an earlier version may hold
// cells that this one does not read: then the rest is compared all the same.
Status ReadCells(const RunRepo& repo, ComparedRun* run) {
  const StepSummary* before = nullptr;
  for (const ReportedStep& step : run->model.steps) {
    auto cells = repo.Cells(run->info.id, step.summary.plan.step);
    if (absl::IsFailedPrecondition(cells.status())) {
      run->cells_unread = fmt::format("{}: {}", run->info.id, MessageOf(cells.status()));
      run->cells.clear();
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(cells.status());
    std::vector<CellCounts> counts;
    for (Cell& cell : *cells) counts.push_back(std::move(cell.counts));
    // An extension is kept with its own cells and judged together with what it extends.
    if (step.summary.origin.kind == StepKind::kExtension && before != nullptr) {
      counts = JoinCells(run->cells.back(), std::move(counts), before->plan.blocks());
    }
    run->cells.push_back(std::move(counts));
    before = &step.summary;
  }
  return absl::OkStatus();
}

StatusOr<ComparedRun> ReadRun(const RunRepo& repo, const std::string& id, bool anyway) {
  auto info = repo.FindRun(id);
  if (!info.ok()) return WithLatestRuns(repo, info.status());
  ComparedRun run{.info = *std::move(info)};
  const std::string& name = run.info.id;
  if (run.info.state == RunState::kRunning && !anyway) {
    return absl::InvalidArgumentError(fmt::format(
        "run {} has not ended (it goes on, or its coordinator died); wait for its end, or compare "
        "what it has so far with --anyway",
        name));
  }
  auto scenario = ParseScenario(run.info.scenario_text, "its scenario", "");
  if (!scenario.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("run {} was made with another version's scenario, which this one cannot read: "
                    "{}; run its recipe again",
                    name, MessageOf(scenario.status())));
  }
  run.scenario = *std::move(scenario);
  auto recipe = repo.GetRecipe(name);
  if (!recipe.ok() && !absl::IsNotFound(recipe.status())) return recipe.status();
  if (recipe.ok()) run.recipe = *std::move(recipe);
  ASSIGN_OR_RETURN(std::vector<StepRow> steps, repo.Steps(name));
  run.model = ModelOf(run.info, run.scenario, run.recipe.value_or(KeptRecipe{}), std::move(steps),
                      run.info.corpus_digest.substr(0, 12));
  if (run.model.steps.empty()) {
    return absl::InvalidArgumentError(fmt::format(
        "run {} has no judged step, so there is nothing to compare; see plimsoll runs show {}",
        name, name));
  }
  RETURN_IF_ERROR(ReadCells(repo, &run));
  return run;
}

}  // namespace

StatusOr<Comparison> CompareStored(const RunRepo& repo, const CompareFlags& flags) {
  if (flags.runs.size() < 2 || flags.runs.size() > kRunsComparedMax) {
    return absl::InvalidArgumentError(
        fmt::format("compare takes 2 to {} runs, not {}; plimsoll runs list shows their ids",
                    kRunsComparedMax, flags.runs.size()));
  }
  std::vector<ComparedRun> runs;
  std::set<std::string> ids;
  for (const std::string& id : flags.runs) {
    ASSIGN_OR_RETURN(ComparedRun run, ReadRun(repo, id, flags.anyway));
    if (!ids.insert(run.info.id).second) {
      return absl::InvalidArgumentError(
          fmt::format("run {} is named twice; name each run once", run.info.id));
    }
    runs.push_back(std::move(run));
  }
  ASSIGN_OR_RETURN(const std::optional<std::uint32_t> target, CommonTarget(runs, flags.target));
  const std::vector<std::string> reasons = NotComparable(runs);
  if (!reasons.empty() && !flags.anyway) {
    return absl::InvalidArgumentError(
        fmt::format("these runs are not comparable (--anyway compares what can be):\n  {}",
                    fmt::join(reasons, "\n  ")));
  }
  return CompareRuns(runs, target);
}

int CompareMain(int argc, const char* const* argv) {
  CLI::App app(
      "Compares runs of several recipes: which holds the target for the least money, and which\n"
      "differences the data supports. Runs of the same corpus, seed and replay are paired.",
      "compare");
  CompareFlags flags;
  app.add_option("RUN", flags.runs, "Ids of runs, or unambiguous beginnings")->required();
  app.add_option("--store", flags.store, "Folder that keeps runs (./plimsoll-store)");
  app.add_option("--json", flags.json, "Write the comparison as JSON to this file, too");
  app.add_option("--target", flags.target, "Sessions that are to hold (the scenarios' target)")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1'000'000}));
  app.add_flag("--anyway", flags.anyway,
               "Compare what can be of runs that were not measured alike, or have not ended");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  if (!flags.json.empty()) {
    if (const Status status = CheckWritable(flags.json); !status.ok()) return Fail(status);
  }
  const auto store = OpenRocksStore(flags.store, StoreAccess::kReadOnly);
  if (!store.ok()) return Fail(store.status());
  const auto comparison = CompareStored(RunRepo(**store), flags);
  if (!comparison.ok()) return Fail(comparison.status());
  std::fputs(CompareText(*comparison).c_str(), stdout);
  if (flags.json.empty()) return 0;
  const Status written = WriteFileWhole(flags.json, CompareJson(*comparison));
  return written.ok() ? 0 : Fail(written);
}

}  // namespace plimsoll
