#include "coordinator/cli/parse_words.h"

#include <string>

#include <CLI/CLI.hpp>

#include "common/cli/command_line.h"

namespace plimsoll {

std::optional<int> ParseWords(CLI::App& app, int argc, const char* const* argv) {
  return ParseCommandLine(app, {argv, argv + argc}, "plimsoll " + app.get_name());
}

}  // namespace plimsoll
