#include "coordinator/cli/runs_command.h"

#include <cstdio>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/cli/command_line.h"
#include "coordinator/cli/run_report.h"
#include "coordinator/report/json_report.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/scenario/scenario_reader.h"
#include "coordinator/store/rocks_store.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {
namespace {

constexpr int kUsage = static_cast<int>(ExitCode::kUsage);

int Fail(const Status& status) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return kUsage;
}

std::string Ending(const RunInfo& run) {
  if (run.state == RunState::kRunning) return "running, or its coordinator died";
  return fmt::format("{}, exit {}", Name(run.state), run.exit_code.value_or(-1));
}

int List(const RunRepo& repo, std::size_t limit) {
  const auto runs = repo.ListRuns(limit);
  if (!runs.ok()) return Fail(runs.status());
  if (runs->empty()) std::puts("no runs");
  for (const RunInfo& run : *runs) {
    std::puts(fmt::format("{}  {}  {}\n    {}", run.id, WallText(run.started), Ending(run),
                          run.capacity.has_value() ? run.capacity->sentence : run.message)
                  .c_str());
  }
  return 0;
}

int Show(const RunRepo& repo, const std::string& id, bool json) {
  const auto run = repo.FindRun(id);
  if (!run.ok()) return Fail(run.status());
  auto steps = repo.Steps(run->id);
  if (!steps.ok()) return Fail(steps.status());
  // The stored text was accepted once; another version of the language may refuse it now.
  const auto scenario = ParseScenario(run->scenario_text, "stored scenario", "");
  if (!scenario.ok()) return Fail(scenario.status());
  const ReportModel model =
      ModelOf(*run, *scenario, *std::move(steps), run->corpus_digest.substr(0, 12));
  std::fputs(json ? JsonReport(model).c_str() : EndText(*run, model).c_str(), stdout);
  if (json) return 0;
  std::puts(fmt::format("\n{}", Ending(*run)).c_str());
  const auto events = repo.Events(run->id);
  if (!events.ok()) return Fail(events.status());
  for (const RunLogLine& event : *events) {
    std::puts(fmt::format("  {}  {}", WallText(event.at), event.text).c_str());
  }
  return 0;
}

}  // namespace

int RunsMain(int argc, const char* const* argv) {
  CLI::App app("Runs that the store keeps.", "runs");
  app.require_subcommand(1);
  std::string store_folder = "plimsoll-store";
  std::string id;
  std::size_t limit = 50;
  bool json = false;
  CLI::App* list = app.add_subcommand("list", "One run a line, latest first");
  list->add_option("--store", store_folder, "Folder that keeps runs (./plimsoll-store)");
  list->add_option("--limit", limit, "How many (50)");
  CLI::App* show = app.add_subcommand("show", "The report of one run, and its log");
  show->add_option("ID", id, "Its id, or an unambiguous beginning")->required();
  show->add_option("--store", store_folder, "Folder that keeps runs (./plimsoll-store)");
  show->add_flag("--json", json, "The report as JSON");
  if (const auto code = ParseCommandLine(app, {argv, argv + argc}, "plimsoll runs")) return *code;
  auto store = OpenRocksStore(store_folder, StoreAccess::kReadOnly);
  if (!store.ok()) return Fail(store.status());
  const RunRepo repo(**store);
  return list->parsed() ? List(repo, limit) : Show(repo, id, json);
}

}  // namespace plimsoll
