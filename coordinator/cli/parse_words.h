// A command's words through CLI11, and its complaints in our form. For the commands' sources.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace plimsoll {

// Reads the words after the command's name. An exit code when the command line alone decides: 0
// after --help, 64 for a mistake, which is said on standard error.
std::optional<int> ParseWords(CLI::App& app, int argc, const char* const* argv);

}  // namespace plimsoll
