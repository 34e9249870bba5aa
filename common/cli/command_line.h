// Command lines that were typed wrong, in a sentence that says what to do next: behind the command
// line library's fence, for every program alike.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace plimsoll {

// Parses the words after the program's (or the command's) name. Absent: they were good. Else the
// exit code to end with: 0 after help or a version was printed, 64 after one line on standard error
// that names the wrong word, the nearest right one, and where help is. `program` is how the
// command is called, "plimsoll run".
std::optional<int> ParseCommandLine(CLI::App& app, std::vector<std::string> words,
                                    std::string_view program);

// For an option's check(): what it must be if `text` is no whole number, else empty. (The library
// takes "-1" for the largest one.)
std::string NotWhole(const std::string& text);

// "unknown command 'chekc' of plimsoll, did you mean 'check'? known are check and run": for words
// that choose a command by hand.
std::string UnknownCommand(std::string_view word, std::string_view program,
                           std::span<const std::string> known);

}  // namespace plimsoll
