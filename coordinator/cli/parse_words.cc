#include "coordinator/cli/parse_words.h"

#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "coordinator/run/run_machine.h"

namespace plimsoll {

std::optional<int> ParseWords(CLI::App& app, int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = argc - 1; i >= 0; --i) words.emplace_back(argv[i]);  // It takes them from the end.
  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    std::fprintf(stderr, "plimsoll: %s (see plimsoll %s --help)\n", e.what(),
                 app.get_name().c_str());
    return static_cast<int>(ExitCode::kUsage);
  }
  return std::nullopt;
}

}  // namespace plimsoll
