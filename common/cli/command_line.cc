#include "common/cli/command_line.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "common/base/text.h"
#include "common/config/field_reader.h"

namespace plimsoll {
namespace {

constexpr int kUsage = 64;

std::string Joined(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

// Words come from a person's shell: none may steer the terminal.
std::string Shown(std::string_view word) {
  constexpr std::size_t kShown = 60;
  return Printable(word, kShown);
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!one->get_name().empty()) names.push_back(one->get_name());  // Else a group of options.
  }
  return names;
}

std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!one->get_name().empty()) continue;
    const std::vector<std::string> grouped = FlagsOf(*one);
    names.insert(names.end(), grouped.begin(), grouped.end());
  }
  return names;
}

bool LooksLikeFlag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !(word[1] >= '0' && word[1] <= '9') && word[1] != '.';
}

std::string UnknownFlag(std::string_view flag, const CLI::App& app, std::string_view program) {
  const std::vector<std::string> known = FlagsOf(app);
  const std::string_view meant = DidYouMean(flag, known);
  const std::string hint = meant.empty() ? fmt::format("its flags are {}", Joined(known))
                                         : fmt::format("did you mean {}?", meant);
  return fmt::format("{} is no flag of {}; {}", Shown(flag), program, hint);
}

// The first word that nobody knows; empty if all are known, and something else is wrong. The
// library would complain of what is missing before it complains of what is unknown.
std::string UnknownWord(const CLI::App& top, const std::vector<std::string>& words,
                        std::string program) {
  const CLI::App* app = &top;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (LooksLikeFlag(word)) {
      const std::string flag = word.substr(0, word.find('='));
      const CLI::Option* option = app->get_option_no_throw(flag);
      if (option == nullptr) return UnknownFlag(flag, *app, program);
      if (flag == word && option->get_items_expected_max() > 0) ++i;  // Its value.
      continue;
    }
    const std::vector<std::string> commands = CommandsOf(*app);
    if (commands.empty()) continue;  // A value by its place.
    if (std::find(commands.begin(), commands.end(), word) == commands.end()) {
      return UnknownCommand(word, program, commands);
    }
    app = app->get_subcommand(word);
    program += " " + word;
  }
  return {};
}

}  // namespace

std::string UnknownCommand(std::string_view word, std::string_view program,
                           std::span<const std::string> known) {
  const std::string_view meant = DidYouMean(word, known);
  return fmt::format("unknown command '{}' of {}; {}known are {}", Shown(word), program,
                     meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant), Joined(known));
}

std::optional<int> ParseCommandLine(CLI::App& app, std::vector<std::string> words,
                                    std::string_view program) {
  const std::vector<std::string> typed = words;
  std::reverse(words.begin(), words.end());  // As App::parse() wants them.
  try {
    app.parse(words);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::string wrong = UnknownWord(app, typed, std::string(program));
    if (wrong.empty()) wrong = error.what();
    std::replace(wrong.begin(), wrong.end(), '\n', ' ');
    std::fputs(fmt::format("{}: {} (see {} --help)\n", program.substr(0, program.find(' ')), wrong,
                           program)
                   .c_str(),
               stderr);
    return kUsage;
  }
}

}  // namespace plimsoll
