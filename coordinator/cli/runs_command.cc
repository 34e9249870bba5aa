#include "coordinator/cli/runs_command.h"

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "coordinator/api/http_routes.h"
#include "coordinator/api/run_view.h"
#include "coordinator/cli/endpoint_file.h"
#include "coordinator/cli/export_command.h"
#include "coordinator/cli/live_client.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/report/json_report.h"
#include "coordinator/report/run_list.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/store/rocks_store.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {
namespace {

// The text of a page: from the coordinator that is running on the store, else, or if it has just
// gone, by `read` from the store.
StatusOr<std::string> PageOf(
    const std::string& store_folder, const std::string& target, AnswerForm form,
    const std::function<StatusOr<std::string>(const RunRepo&, const std::optional<LiveRun>&)>&
        read) {
  const auto coordinator = FindCoordinator(store_folder);
  if (coordinator.has_value() && coordinator->here && !coordinator->http.empty()) {
    auto answer = AskCoordinator(coordinator->http, target, form);
    if (!absl::IsUnavailable(answer.status())) return answer;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Store> store,
                   OpenRocksStore(store_folder, StoreAccess::kReadOnly));
  std::optional<LiveRun> live;
  if (coordinator.has_value()) live = LiveRun{.run_id = coordinator->run_id};
  return read(RunRepo(*store), live);
}

StatusOr<std::string> List(const std::string& store, std::size_t limit) {
  return PageOf(
      store, fmt::format("/api/v1/runs?limit={}", limit), AnswerForm::kText,
      [limit](const RunRepo& repo, const std::optional<LiveRun>& live) -> StatusOr<std::string> {
        ASSIGN_OR_RETURN(const std::vector<RunInfo> runs, repo.ListRuns(limit));
        return RunList(runs, live ? live->run_id : "");
      });
}

StatusOr<std::string> Show(const std::string& store, const std::string& id, bool json) {
  const std::string page = "/api/v1/runs/" + EscapeSegment(id);
  return PageOf(
      store, json ? page + "/report" : page, json ? AnswerForm::kJson : AnswerForm::kText,
      [&](const RunRepo& repo, const std::optional<LiveRun>& live) -> StatusOr<std::string> {
        ASSIGN_OR_RETURN(const RunView view, ReadRunView(repo, id, live));
        return json ? JsonReport(view.model) : RunText(view);
      });
}

int Print(const StatusOr<std::string>& text) {
  if (!text.ok()) {
    std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(text.status())).c_str());
    return static_cast<int>(ExitCode::kUsage);
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

// The words of all three subcommands.
struct Words {
  std::string store = "plimsoll-store";
  std::string id;
  std::size_t limit = kRunsLimitDefault;
  bool json = false;
  ExportFlags flags;
};

CLI::App* AddExport(CLI::App& app, Words& words) {
  CLI::App* out =
      app.add_subcommand("export",
                         "Steps, records, evals or servers' pages of one run, for other "
                         "programs (docs/api.md lists the columns)");
  out->add_option("ID", words.id, "Its id, or an unambiguous beginning")->required();
  out->add_option("--store", words.store, "Folder that keeps runs (./plimsoll-store)");
  CLI::Option_group* what = out->add_option_group("what");
  what->add_option("--steps", words.flags.steps, "csv or jsonl: a line a step")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  what->add_option("--parts", words.flags.parts,
                   "csv or jsonl: a line for each limit of the bar and step")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  what->add_option("--agents", words.flags.agents,
                   "csv or jsonl: a line for each agent and step, what it and its machine did")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  what->add_option("--records", words.flags.records,
                   "csv or jsonl: a line a record, by agent slot, incarnation and sequence")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  what->add_option("--evals", words.flags.evals, "csv or jsonl: a line an eval, in the same order")
      ->check(CLI::IsMember({"csv", "jsonl"}));
  what->add_option("--pages", words.flags.pages,
                   "jsonl: a line for each page of metrics that a server gave, with the page")
      ->check(CLI::IsMember({"jsonl"}));
  what->add_flag("--junit", words.flags.junit,
                 "JUnit XML: the verdict, each step and limit a case");
  what->add_flag("--markdown", words.flags.markdown, "The report as GitHub-flavoured Markdown");
  what->require_option(1);
  out->add_option("--out", words.flags.out, "Write to this file, whole or not at all");
  return out;
}

}  // namespace

int RunsMain(int argc, const char* const* argv) {
  CLI::App app("Runs that the store keeps.", "runs");
  app.require_subcommand(1);
  Words words;
  CLI::App* list = app.add_subcommand("list", "One run a line, latest first");
  list->add_option("--store", words.store, "Folder that keeps runs (./plimsoll-store)");
  list->add_option("--limit", words.limit, "How many (50)")
      ->check(CLI::Range(std::size_t{1}, kRunsLimitMax));
  CLI::App* show = app.add_subcommand("show", "The report of one run, and its log");
  show->add_option("ID", words.id, "Its id, or an unambiguous beginning")->required();
  show->add_option("--store", words.store, "Folder that keeps runs (./plimsoll-store)");
  show->add_flag("--json", words.json, "The report as JSON");
  const CLI::App* out = AddExport(app, words);
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  if (list->parsed()) return Print(List(words.store, words.limit));
  if (!out->parsed()) return Print(Show(words.store, words.id, words.json));
  words.flags.store = words.store;
  words.flags.id = words.id;
  return ExportRun(words.flags);
}

}  // namespace plimsoll
