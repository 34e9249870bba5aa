#include "coordinator/cli/guardian_command.h"

#include <string>

#include <CLI/CLI.hpp>

#include "coordinator/cli/parse_words.h"
#include "coordinator/hooks/guardian.h"

namespace plimsoll {

int GuardianMain(int argc, const char* const* argv) {
  CLI::App app("Rolls a run back if its coordinator dies. plimsoll run starts it.", "guardian");
  std::string store;
  std::string run;
  app.add_option("--store", store, "Folder that keeps the run")->required();
  app.add_option("--run", run, "The run's id")->required();
  if (const auto code = ParseWords(app, argc, argv)) return *code;
  return GuardRun(store, run);
}

}  // namespace plimsoll
