#include "coordinator/cli/window_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/base/real_clock.h"
#include "common/config/quantities.h"
#include "common/wire/corpus_codec.h"
#include "coordinator/cli/baselines.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/cli/run_store.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/cli/window_text.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/run/window_budget.h"
#include "coordinator/store/rocks_store.h"
#include "coordinator/windows/window_files.h"

namespace plimsoll {
namespace {

constexpr int kReserveParts = 10;  // Of a window, without a word on it.

struct QueueWords {
  std::string store = "plimsoll-store";
  std::string scenario;
  std::string between;
  std::string length;
  std::string reserve;
  std::string on = "daily";
  bool once = false;
  bool follow = false;
  std::string id;
};

int Fail(const Status& status, ExitCode code) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return static_cast<int>(code);
}

// A mistake of the caller, or a disk that does not take it.
ExitCode CodeOf(const Status& status) {
  const bool usage = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  return usage ? ExitCode::kUsage : ExitCode::kCouldNotRun;
}

StatusOr<Duration> LengthOf(const char* flag, const std::string& text) {
  const auto length = ParseDuration(text);
  if (length.ok()) return *length;
  return absl::InvalidArgumentError(fmt::format("{}: {}", flag, MessageOf(length.status())));
}

// What the words leave open, the scenario's section `window` says.
StatusOr<WindowHours> SpecOf(const QueueWords& words, const Scenario& scenario) {
  const std::string& hours = words.between.empty() ? scenario.window.between : words.between;
  if (hours.empty()) {
    return absl::InvalidArgumentError(
        "--between is missing, and the scenario has no window.between: write e.g. --between "
        "\"22:00-06:00 Europe/Berlin\"");
  }
  ASSIGN_OR_RETURN(Between between, ParseBetween(hours));
  WindowHours spec{.opens = between.opens, .closes = between.closes, .zone = between.zone};
  ASSIGN_OR_RETURN(spec.days, ParseDays(words.on));
  if (!words.length.empty()) {
    ASSIGN_OR_RETURN(spec.length, LengthOf("--length", words.length));
  } else if (scenario.window.length) {
    spec.length = *scenario.window.length;
  } else {
    return absl::InvalidArgumentError(
        "--length is missing, and the scenario has no window.length: write e.g. --length 2h");
  }
  RunSettings settings = MakeRunSettings(scenario);
  settings.window = OwnLength(spec.length);
  if (std::string why = WhyWindowIsTooShort(settings); !why.empty()) {
    return absl::InvalidArgumentError(std::move(why));
  }
  // The run keeps its own reserve; this one is for a run that does not.
  spec.reserve = std::max(settings.hooks.rollback ? EndReserve(settings) : Duration{0},
                          spec.length / kReserveParts);
  if (!words.reserve.empty()) {
    ASSIGN_OR_RETURN(spec.reserve, LengthOf("--reserve", words.reserve));
  }
  spec.once = words.once;
  RETURN_IF_ERROR(CheckWindow(spec));
  return spec;
}

// As `plimsoll check` does: what a run would refuse is refused now.
StatusOr<LoadedScenario> CheckedScenario(const QueueWords& words) {
  ASSIGN_OR_RETURN(LoadedScenario loaded, LoadScenario(words.scenario));
  RETURN_IF_ERROR(ReadBaselines(words.store, &loaded));
  const auto plan = MakeRunPlan(
      loaded.scenario, *loaded.corpus,
      {.run_id = "check", .corpus_digest = loaded.corpus_digest, .eval_set = loaded.evals_text});
  if (!plan.ok()) return plan.status();
  return loaded;
}

// A queue lies in a store; the first window may come before the first run.
Status MakeStore(const std::string& folder) {
  const auto store = OpenRocksStore(folder, StoreAccess::kReadOnly);
  if (store.ok() || !absl::IsNotFound(store.status())) return store.status();
  return OpenRunStore(folder).status();
}

StatusOr<std::string> Add(const QueueWords& words) {
  ASSIGN_OR_RETURN(const LoadedScenario loaded, CheckedScenario(words));
  ASSIGN_OR_RETURN(const WindowHours spec, SpecOf(words, loaded.scenario));
  ASSIGN_OR_RETURN(const TimeZone zone, TimeZone::Load(spec.zone));
  const WallTime now = RealClock().WallNow();
  const auto next = NextStart(spec, zone, now);
  if (!next) return absl::InvalidArgumentError("such a window is never long enough within a year");
  RETURN_IF_ERROR(MakeStore(words.store));
  std::error_code error;
  const auto path = std::filesystem::absolute(words.scenario, error);
  if (error) return absl::InvalidArgumentError(error.message());
  WindowEntry entry{.id = {},
                    .scenario_path = path.lexically_normal().string(),
                    .scenario_name = loaded.scenario.name,
                    .scenario_digest = Sha256Hex(loaded.text),
                    .follow = words.follow,
                    .spec = spec,
                    .added = now};
  WindowFiles files(words.store);
  const std::string id = MakeRunId(now, loaded.scenario.name);
  Status status = absl::AlreadyExistsError("");
  for (int n = 1; absl::IsAlreadyExists(status) && n < 100; ++n) {
    entry.id = n == 1 ? id : fmt::format("{}-{}", id, n);
    status = files.Add(entry);
  }
  RETURN_IF_ERROR(status);
  return fmt::format("window {}: {}\nnext: {}\n{}", entry.id, Words(spec),
                     *next == now ? "now" : zone.Text(*next),
                     files.Locked() ? "" : "nobody runs this queue: start plimsoll serve\n");
}

StatusOr<std::string> List(const QueueWords& words) {
  RETURN_IF_ERROR(OpenRocksStore(words.store, StoreAccess::kReadOnly).status());
  const WindowFiles files(words.store);
  return WindowList(files.List(), RealClock().WallNow(), files.Locked());
}

// By the whole id or an unambiguous beginning, as runs are. A damaged one is cancelled by its id.
StatusOr<std::string> Cancel(const QueueWords& words) {
  WindowFiles files(words.store);
  std::vector<std::string> ids;
  bool running = false;
  for (const WindowFiles::Kept& kept : files.List().windows) {
    if (!kept.entry.id.starts_with(words.id)) continue;
    if (kept.entry.id == words.id) ids.clear();
    ids.push_back(kept.entry.id);
    running = kept.state.running;
    if (kept.entry.id == words.id) break;
  }
  if (ids.size() > 1) {
    return absl::InvalidArgumentError(
        fmt::format("{} windows begin with {}; write more of the id", ids.size(), words.id));
  }
  const std::string id = ids.empty() ? words.id : ids.front();
  if (const Status status = files.Cancel(id); !status.ok()) {
    if (!absl::IsNotFound(status)) return status;
    return absl::NotFoundError(
        fmt::format("{}; see plimsoll window list --store {}", MessageOf(status), words.store));
  }
  return fmt::format("window {} is cancelled{}\n", id,
                     running ? "; its run, which is going on, is not stopped" : "");
}

int Print(const StatusOr<std::string>& text) {
  if (!text.ok()) return Fail(text.status(), CodeOf(text.status()));
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace

int WindowMain(int argc, const char* const* argv) {
  CLI::App app("Windows in which `plimsoll serve` runs scenarios (docs/windows.md).", "window");
  app.require_subcommand(1);
  QueueWords words;
  CLI::App* add = app.add_subcommand("add", "Queue a scenario for its window");
  add->add_option("SCENARIO", words.scenario, "The scenario's YAML file")->required();
  add->add_option("--between", words.between,
                  "Local times and their zone: \"22:00-06:00 Europe/Berlin\" (window.between)");
  add->add_option(
      "--length", words.length,
      "How long a run may hold the deployment, its rollback included: 2h (window.length)");
  add->add_option("--reserve", words.reserve,
                  "Of that, for the end and the rollback (what the hooks can take)");
  add->add_option("--on", words.on,
                  "Days on which it opens: daily, weekdays, weekends or mon,tue (daily)");
  add->add_flag("--once", words.once, "One run, then no more");
  add->add_flag("--follow", words.follow, "Run the scenario also if it has changed by then");
  CLI::App* list = app.add_subcommand("list", "The queue, and what became of it");
  CLI::App* cancel = app.add_subcommand("cancel", "Take a window out of the queue");
  cancel->add_option("ID", words.id, "Its id, or an unambiguous beginning")->required();
  for (CLI::App* one : {add, list, cancel}) {
    one->add_option("--store", words.store, "Folder that keeps runs (./plimsoll-store)");
  }
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  if (add->parsed()) return Print(Add(words));
  return Print(list->parsed() ? List(words) : Cancel(words));
}

}  // namespace plimsoll
