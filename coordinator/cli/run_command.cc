#include "coordinator/cli/run_command.h"

#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/chat/target.h"
#include "common/config/quantities.h"
#include "coordinator/cli/baselines.h"
#include "coordinator/cli/check_text.h"
#include "coordinator/cli/kill_switch_text.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/cli/rehearsal_options.h"
#include "coordinator/cli/run_app.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/cli/signal_check.h"
#include "coordinator/cli/signals_text.h"
#include "coordinator/notify/notifier.h"
#include "coordinator/planning/eval_plan.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/run/run_machine.h"

namespace plimsoll {
namespace {

constexpr int kUsage = static_cast<int>(ExitCode::kUsage);

int Fail(const Status& status) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(status)).c_str());
  return status.code() == absl::StatusCode::kInternal ? static_cast<int>(ExitCode::kInternal)
                                                      : kUsage;
}

// What CLI11 would say of a number that is none is no help.
std::string WrongNonce(const std::string& text) {
  const auto nonce = ParseCount(text);
  if (nonce.ok()) return {};
  return "takes a whole number from 0 to 18446744073709551615, as the report of the run to repeat "
         "says";
}

}  // namespace

int CheckMain(int argc, const char* const* argv) {
  CLI::App app(
      "Reads a scenario and its corpus, and prints the dry plan. Sends no load; pages of signals "
      "are\n"
      "read once.",
      "check");
  std::string path;
  std::string store = "plimsoll-store";
  app.add_option("SCENARIO", path, "The scenario's YAML file")->required();
  app.add_option("--store", store,
                 "Folder that keeps the runs of bar.from_baseline (./plimsoll-store)");
  bool offline = false;
  app.add_flag("--offline", offline, "Do not read the pages that the scenario's signals name");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  auto loaded = LoadScenario(path);
  if (!loaded.ok()) return Fail(loaded.status());
  if (const Status status = ReadBaselines(store, &*loaded); !status.ok()) return Fail(status);
  auto plan = MakeRunPlan(
      loaded->scenario, *loaded->corpus,
      {.run_id = "check", .corpus_digest = loaded->corpus_digest, .eval_set = loaded->evals_text});
  if (!plan.ok()) return Fail(plan.status());
  const DryPlan dry = MakeDryPlan(loaded->scenario, *plan, *loaded->corpus);
  std::fputs(CheckText(loaded->scenario, *plan, *loaded->corpus, dry).c_str(), stdout);
  if (loaded->evals != nullptr) {
    std::fputs("\n", stdout);
    for (const std::string& line :
         EvalLines(loaded->scenario, *loaded->evals, loaded->evals_label, dry)) {
      std::fputs(LabelledLine("evals", line).c_str(), stdout);
    }
  }
  for (const std::string& doubt : loaded->baseline_doubts) {
    std::fputs(LabelledLine("warning", doubt).c_str(), stdout);
  }
  // A warning: a plan may be looked at where it is not run.
  if (const auto secrets = ReadTargetSecrets(plan->target); !secrets.ok()) {
    std::fputs(LabelledLine("warning", fmt::format("{}; `plimsoll run` would end with 4 here",
                                                   MessageOf(secrets.status())))
                   .c_str(),
               stdout);
  }
  if (const auto webhooks = ReadWebhooks(loaded->scenario.notify); !webhooks.ok()) {
    std::fputs(LabelledLine("warning", fmt::format("{}; `plimsoll run` would end with 4 here",
                                                   MessageOf(webhooks.status())))
                   .c_str(),
               stdout);
  }
  if (loaded->scenario.kill_switch) {
    std::fputs(('\n' + KillSwitchText(*loaded->scenario.kill_switch)).c_str(), stdout);
  }
  if (!loaded->scrape.has_value()) return 0;
  std::fputs(('\n' + SignalsText(*loaded->scenario.signals)).c_str(), stdout);
  if (offline) return 0;
  std::fflush(stdout);  // A server that hangs takes its time.
  const FirstRead read = ReadSignalsOnce(loaded->scenario, *std::move(loaded->scrape));
  std::fputs(read.text.c_str(), stdout);
  return read.blocks ? static_cast<int>(ExitCode::kCouldNotRun) : 0;
}

int RunMain(int argc, const char* const* argv) {
  CLI::App app(
      "Runs a scenario: preflight, then steps of rising sessions until one misses the bar.\n"
      "Ctrl-C drains, once more aborts; a report is always written.",
      "run");
  RunFlags flags;
  std::string path;
  app.add_option("SCENARIO", path, "The scenario's YAML file")->required();
  app.add_option("--store", flags.store, "Folder that keeps runs (./plimsoll-store)");
  app.add_option("--json", flags.json, "Write the report as JSON to this file, too");
  std::string window;
  app.add_option("--window", window,
                 "From now to the end of the rollback, e.g. 2h, instead of the scenario's window");
  app.add_flag("--promote", flags.promote,
               "Run the hook `promote` after a confident pass, instead of the rollback");
  app.add_option("--markdown", flags.files.markdown,
                 "Write it as Markdown to this file, anew after each phase: $GITHUB_STEP_SUMMARY");
  app.add_option("--junit", flags.files.junit, "Write it as JUnit XML to this file");
  app.add_option("--nonce", flags.nonce, "Salt of the prompts, to repeat a run to the byte")
      ->check(WrongNonce);
  app.add_option("--http", flags.http,
                 "HOST:PORT of the results API while it runs (127.0.0.1:0: any free port); 'off'");
  app.add_option("--grpc", flags.grpc, "HOST:PORT of the same over gRPC (off)");
  const std::map<std::string, ColourChoice> colours = {{"auto", ColourChoice::kAuto},
                                                       {"always", ColourChoice::kAlways},
                                                       {"never", ColourChoice::kNever}};
  app.add_option("--color", flags.colour,
                 "Colour of progress: auto (on a terminal, unless NO_COLOR), always, never")
      ->transform(CLI::CheckedTransformer(colours))
      ->option_text("WHEN");
  AddRehearsalOptions(app, &flags.rehearsal);
  app.footer(
      "Exit codes: 0 target held, 1 missed, 2 too close, 3 no data, 4 could not run, 5 stopped,\n"
      "6 rollback failed, 64 usage or scenario error, 70 internal error.");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  auto loaded = LoadScenario(path);
  if (!loaded.ok()) return Fail(loaded.status());
  if (!window.empty()) {
    const auto length = ParseDuration(window);
    if (!length.ok() || *length <= Duration{0}) {
      return Fail(absl::InvalidArgumentError(
          fmt::format("--window: {}",
                      length.ok() ? "is to be above zero, e.g. 2h" : MessageOf(length.status()))));
    }
    loaded->scenario.window.length = *length;
  }
  if (flags.promote && loaded->scenario.hooks.promote.empty()) {
    return Fail(
        absl::InvalidArgumentError("--promote: the scenario has no hook for it, write e.g. hooks: "
                                   "{promote: [hooks/promote]}"));
  }
  return RunScenario(*std::move(loaded), flags);
}

}  // namespace plimsoll
