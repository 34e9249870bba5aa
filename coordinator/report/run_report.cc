#include "coordinator/report/run_report.h"

#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "coordinator/report/hook_text.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/report/text_report.h"

namespace plimsoll {

std::string WallText(WallTime at) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(seconds));
}

std::optional<CostSettings> CostOf(const Scenario& scenario) {
  if (!scenario.cost) return std::nullopt;
  return CostSettings{.nodes = scenario.cost->nodes,
                      .micros = scenario.cost->per_node_hour.micros,
                      .currency = scenario.cost->per_node_hour.currency};
}

ReportModel ModelOf(const RunInfo& info, const Scenario& scenario, const KeptRecipe& recipe,
                    std::vector<StepRow> steps, std::string corpus_label) {
  ReportModel model;
  model.run_name = info.name;
  model.run_id = info.id;
  model.exit_code = info.exit_code;
  model.started_at = WallText(info.started);
  model.target_url = scenario.target.url;
  model.model = scenario.target.model;
  model.corpus = std::move(corpus_label);
  model.target = scenario.sweep.target;
  // The scenario does not have the values of limits that come from baseline runs.
  model.bar = info.bar.limits.empty() ? scenario.bar : info.bar;
  model.price = info.cost ? info.cost : CostOf(scenario);  // Earlier versions kept none.
  model.recipe_note = recipe.note;
  for (const RecipeFile& file : recipe.files) {
    model.recipe_files.push_back({.path = file.path,
                                  .digest = file.digest,
                                  .bytes = file.bytes.size(),
                                  .secrets_left_out = file.secrets_left_out});
  }
  for (StepRow& row : steps) {
    model.steps.push_back({.summary = std::move(row.summary), .notes = std::move(row.notes)});
  }
  model.stopped_because = info.message;
  model.preflight = info.preflight;
  model.drain = info.drain;
  model.rollback = info.rollback;
  model.notes.emplace_back(
      "prompts are generated text: a model guesses differently on it, so where it guesses several "
      "tokens ahead (multi-token prediction) its speed here is not its speed on real text");
  Conclude(model);
  return model;
}

namespace {

const char* StateWord(RunState state, const char* failed) {
  return state == RunState::kStopped       ? "STOPPED"
         : state == RunState::kInterrupted ? "INTERRUPTED"
                                           : failed;
}

std::string Body(const RunInfo& info, const ReportModel& model) {
  // Without a step there is no verdict to print: only why, and what it means.
  if (model.steps.empty() && info.state == RunState::kRunning) {
    return "no step is judged yet\n";
  }
  if (model.steps.empty()) {
    std::string text = fmt::format("{}: {}\n", StateWord(info.state, "COULD NOT RUN"),
                                   info.message.empty() ? "no step was run" : info.message);
    for (const std::string& file : model.files_written) text += LabelledLine("written", file);
    return text;
  }
  std::string text;
  if (info.state == RunState::kStopped || info.state == RunState::kFailed ||
      info.state == RunState::kInterrupted) {
    text = fmt::format("{}: {}; what was measured until then:\n\n",
                       StateWord(info.state, "BROKE OFF"), info.message);
  }
  return text + TextReport(model);
}

}  // namespace

std::string EndText(const RunInfo& info, const ReportModel& model) {
  return RollbackShout(model) + Body(info, model) + HookText(model);
}

std::string StepLine(const StepSummary& step) {
  std::string why;
  for (const std::string& reason : step.verdict.reasons) {
    if (!why.empty()) why += "; ";
    why += reason;
  }
  return fmt::format("  {} sessions: {}{}{}", step.plan.sessions,
                     step.verdict.is_void ? "no data" : Name(step.verdict.verdict),
                     why.empty() ? "" : ": ", why);
}

}  // namespace plimsoll
