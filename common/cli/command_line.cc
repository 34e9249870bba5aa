#include "common/cli/command_line.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <system_error>
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

// A command of the program, and what it is called: "plimsoll runs show".
struct Named {
  const CLI::App* app;
  std::string name;
};

// What the words come to: the last command they choose, and the first word that nobody knows, said
// in full; empty if all are known, and something else is wrong. (The library would complain of what
// is missing before it complains of what is unknown.)
struct Reading {
  Named command;
  std::string unknown;
};

Reading ReadWords(const CLI::App& top, const std::vector<std::string>& words,
                  std::string_view program) {
  Named at{&top, std::string(program)};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (LooksLikeFlag(word)) {
      const std::string flag = word.substr(0, word.find('='));
      const CLI::Option* option = at.app->get_option_no_throw(flag);
      if (option == nullptr) return {at, UnknownFlag(flag, *at.app, at.name)};
      if (flag == word && option->get_items_expected_max() > 0) ++i;  // Its value.
      continue;
    }
    const std::vector<std::string> commands = CommandsOf(*at.app);
    if (commands.empty()) continue;  // A value by its place.
    if (std::find(commands.begin(), commands.end(), word) == commands.end()) {
      return {at, UnknownCommand(word, at.name, commands)};
    }
    at.app = at.app->get_subcommand(word);
    at.name += " " + word;
  }
  return {at, {}};
}

// "--port, which is: Port to listen on", of an option by any of its names.
std::string WhichIs(const std::string& option, const CLI::App& app) {
  const CLI::Option* found = app.get_option_no_throw(option);
  if (found == nullptr || found->get_description().empty()) return option;
  return fmt::format("{}, which is: {}", option, found->get_description());
}

// The library's complaint, where its own words do not say what to do.
std::string Complaint(const CLI::ParseError& error, const Named& command) {
  std::string said = error.what();
  const auto after = [&said](std::string_view mark) {
    const std::size_t at = said.find(mark);
    return at == std::string::npos ? std::string() : said.substr(at + mark.size());
  };
  const auto before = [&said](std::string_view mark) { return said.substr(0, said.find(mark)); };
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !after(": ").empty()) {
    return fmt::format("{} takes no such word: {}", command.name, Shown(after(": ")));
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && !after(": ").empty()) {
    return fmt::format("a value is missing for {}", WhichIs(before(": "), *command.app));
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr && !after(" = ").empty()) {
    const std::string option = before(" = ").substr(said.find("--"));
    return fmt::format("'{}' is no value for {}", Shown(after(" = ")),
                       WhichIs(option, *command.app));
  }
  const std::vector<std::string> commands = CommandsOf(*command.app);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !commands.empty()) {
    return fmt::format("a command is missing after {}; known are {}", command.name,
                       Joined(commands));
  }
  return said;
}

}  // namespace

std::string UnknownCommand(std::string_view word, std::string_view program,
                           std::span<const std::string> known) {
  const std::string_view meant = DidYouMean(word, known);
  return fmt::format("unknown command '{}' of {}; {}known are {}", Shown(word), program,
                     meant.empty() ? "" : fmt::format("did you mean '{}'? ", meant), Joined(known));
}

std::string NotWhole(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return "takes a whole number from 0 to 18446744073709551615";
}

std::optional<int> ParseCommandLine(CLI::App& app, std::vector<std::string> words,
                                    std::string_view program) {
  const std::vector<std::string> typed = words;
  std::reverse(words.begin(), words.end());  // As App::parse() wants them.
  app.name(std::string(program));            // Help begins "Usage: " and this.
  try {
    app.parse(words);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    const Reading reading = ReadWords(app, typed, program);
    std::string wrong =
        reading.unknown.empty() ? Complaint(error, reading.command) : reading.unknown;
    std::replace(wrong.begin(), wrong.end(), '\n', ' ');
    std::fputs(fmt::format("{}: {} (see {} --help)\n", program.substr(0, program.find(' ')), wrong,
                           reading.command.name)
                   .c_str(),
               stderr);
    return kUsage;
  }
}

}  // namespace plimsoll
