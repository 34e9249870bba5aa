#include "coordinator/api/run_view.h"

#include <fmt/format.h>

#include "coordinator/report/run_list.h"
#include "coordinator/report/run_report.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/run/live_words.h"
#include "coordinator/scenario/scenario_reader.h"

namespace plimsoll {
namespace {

constexpr std::size_t kSuggestions = 3;

// The stored text was accepted once; another version of the language may refuse it now.
Scenario StoredScenario(const RunInfo& info, std::string* problem) {
  auto scenario = ParseScenario(info.scenario_text, "stored scenario", "");
  if (scenario.ok()) return *std::move(scenario);
  *problem = fmt::format(
      "this version cannot read the run's scenario, so target and bar are not "
      "shown: {}",
      MessageOf(scenario.status()));
  return Scenario{};
}

}  // namespace

StatusOr<RunView> ReadRunView(const RunRepo& repo, std::string_view id_start,
                              const std::optional<LiveRun>& live) {
  auto info = repo.FindRun(id_start);
  if (!info.ok()) return WithLatestRuns(repo, info.status());
  RunView view{.info = *std::move(info)};
  ASSIGN_OR_RETURN(std::vector<StepRow> steps, repo.Steps(view.info.id));
  ASSIGN_OR_RETURN(view.log, repo.Events(view.info.id));
  ASSIGN_OR_RETURN(std::vector<HookOutcome> hooks, repo.Hooks(view.info.id));
  std::string problem;
  const Scenario scenario = StoredScenario(view.info, &problem);
  auto recipe = repo.GetRecipe(view.info.id);
  if (!recipe.ok() && !absl::IsNotFound(recipe.status())) return recipe.status();
  if (recipe.ok()) view.recipe = *std::move(recipe);
  view.model = ModelOf(view.info, scenario, view.recipe, std::move(steps),
                       view.info.corpus_digest.substr(0, 12));
  view.model.hooks = std::move(hooks);
  if (!problem.empty()) view.model.notes.push_back(std::move(problem));
  view.live =
      view.info.state == RunState::kRunning && live.has_value() && live->run_id == view.info.id;
  if (view.live) view.status = live->status;
  return view;
}

Status WithLatestRuns(const RunRepo& repo, const Status& status) {
  if (!absl::IsNotFound(status)) return status;
  const auto latest = repo.ListRuns(kSuggestions);
  if (!latest.ok()) return status;
  std::string ids;
  for (const RunInfo& run : *latest) ids += (ids.empty() ? "" : ", ") + run.id;
  return absl::NotFoundError(
      fmt::format("{}; {}", MessageOf(status),
                  ids.empty() ? "it keeps no run yet" : fmt::format("the latest are {}", ids)));
}

std::string RunText(const RunView& view) {
  const Liveness liveness = view.live ? Liveness::kLive : Liveness::kDead;
  std::string now;
  if (view.status) {
    now = LabelledLine("now", NowSentence(*view.status, view.model.bar));
  } else if (view.live) {
    now = LabelledLine("now", "another process runs it: this is what is stored so far");
  }
  return EndText(view.info, view.model) + "\n" + now + Ending(view.info, liveness) + "\n" +
         LogText(view.log);
}

}  // namespace plimsoll
