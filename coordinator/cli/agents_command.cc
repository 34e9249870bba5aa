#include "coordinator/cli/agents_command.h"

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "coordinator/cli/endpoint_file.h"
#include "coordinator/cli/live_client.h"
#include "coordinator/cli/parse_words.h"
#include "coordinator/run/run_machine.h"
#include "coordinator/store/rocks_store.h"

namespace plimsoll {

int AgentsMain(int argc, const char* const* argv) {
  CLI::App app("The agents of the run that is going on: as its coordinator last heard of them.",
               "agents");
  std::string store = "plimsoll-store";
  bool json = false;
  app.add_option("--store", store, "Folder that the run is kept in (./plimsoll-store)");
  app.add_flag("--json", json, "As JSON");
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  const auto coordinator = FindCoordinator(store);
  if (!coordinator.has_value()) {
    // A folder that is no store is a slip of the pen, not a store without a run.
    if (const auto kept = OpenRocksStore(store, StoreAccess::kReadOnly); !kept.ok()) {
      std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(kept.status())).c_str());
      return static_cast<int>(ExitCode::kUsage);
    }
    std::printf("no run is going on in %s; `plimsoll run` starts one\n", store.c_str());
    return 0;
  }
  if (!coordinator->here || coordinator->http.empty()) {
    std::printf("run %s is going on %s\n", coordinator->run_id.c_str(),
                coordinator->here ? "without --http, so that it cannot be asked"
                                  : "on another machine: ask there");
    return 0;
  }
  const auto answer = AskCoordinator(coordinator->http, "/api/v1/agents",
                                     json ? AnswerForm::kJson : AnswerForm::kText);
  if (!answer.ok()) {
    std::fprintf(stderr, "plimsoll: %s\n", std::string(MessageOf(answer.status())).c_str());
    return static_cast<int>(ExitCode::kCouldNotRun);
  }
  std::fputs(answer->c_str(), stdout);
  return 0;
}

}  // namespace plimsoll
