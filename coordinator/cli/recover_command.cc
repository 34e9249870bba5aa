#include "coordinator/cli/recover_command.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/base/real_clock.h"
#include "common/base/text.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/cli/recover.h"
#include "coordinator/hooks/run_intent.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/store/rocks_store.h"

namespace plimsoll {
namespace {

int Fail(ExitCode code, std::string_view text) {
  std::fprintf(stderr, "plimsoll: %s\n", std::string(text).c_str());
  return static_cast<int>(code);
}

void Say(const std::string& text) {
  std::printf("%s\n", Printable(text).c_str());
  std::fflush(stdout);
}

// Whoever has the store hears of it when he starts the next time; the rollback did not wait.
Status Keep(const std::string& folder, const RecoverOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::path(folder) / "CURRENT", error)) {
    return absl::OkStatus();  // No run was ever kept here.
  }
  auto store = OpenRocksStore(folder, StoreAccess::kReadWrite);
  if (!store.ok()) return store.status();
  return AbsorbRecovered(folder, **store, RealClock(), options);
}

std::string Sum(const RecoverReport& report) {
  const auto count = [&](std::initializer_list<RecoveredKind> kinds) {
    return std::count_if(report.runs.begin(), report.runs.end(), [&](const RecoveredRun& run) {
      return std::find(kinds.begin(), kinds.end(), run.kind) != kinds.end();
    });
  };
  if (report.runs.empty()) return "no rollback is owed";
  std::string text =
      fmt::format("{} settled", count({RecoveredKind::kRolledBack, RecoveredKind::kPromoted}));
  if (const auto n = count({RecoveredKind::kFailed})) text += fmt::format(", {} FAILED", n);
  if (const auto n = count({RecoveredKind::kHeld})) text += fmt::format(", {} left alone", n);
  return text;
}

}  // namespace

int RecoverMain(int argc, const char* const* argv) {
  CLI::App app("Makes the rollbacks that runs owe whose coordinator died.", "recover");
  std::string folder = "plimsoll-store";
  RecoverOptions options{.say = Say};
  app.add_option("RUN", options.run, "Only this run, by its whole id");
  app.add_option("--store", folder, "Folder that keeps runs (./plimsoll-store)");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return Fail(ExitCode::kUsage, fmt::format("there is no store in {}", folder));
  }
  const std::vector<std::string> owed = ListIntents(folder);
  if (!options.run.empty() && std::find(owed.begin(), owed.end(), options.run) == owed.end()) {
    return Fail(ExitCode::kUsage,
                fmt::format("run {} owes no rollback{}", options.run,
                            owed.empty() ? std::string()
                                         : fmt::format("; these do: {}", fmt::join(owed, ", "))));
  }
  const RecoverReport report = RollBackUnfinished(folder, options);
  Say(Sum(report));
  const Status kept = Keep(folder, options);
  if (!kept.ok()) {
    Say(fmt::format("the store does not say so yet: {}", MessageOf(kept)));
  }
  if (report.failed()) return static_cast<int>(ExitCode::kRollbackFailed);
  return 0;
}

}  // namespace plimsoll
