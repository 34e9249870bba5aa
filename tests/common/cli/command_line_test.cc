// Words that were typed wrong, at every depth of a command line.
#include "common/cli/command_line.h"

#include <CLI/CLI.hpp>

#include "gmock/gmock.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// "plimsoll runs": commands, one of which takes a value by its place and a group of flags.
class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    app_.require_subcommand(1);
    app_.add_subcommand("list", "Lists")->add_option("--limit", limit_, "How many");
    CLI::App* out = app_.add_subcommand("export", "Exports");
    out->add_option("ID", id_, "Its id")->required();
    CLI::Option_group* what = out->add_option_group("what");
    what->add_option("--steps", steps_, "csv or jsonl")->check(CLI::IsMember({"csv", "jsonl"}));
    what->add_option("--records", records_, "csv or jsonl");
    what->require_option(1);
  }

  // What is printed, of words that must be refused.
  std::string Refused(const std::vector<std::string>& words) {
    ::testing::internal::CaptureStderr();
    const auto code = ParseCommandLine(app_, words, "plimsoll runs");
    std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, 64);
    EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
    return said;
  }

  CLI::App app_{"Runs", "runs"};
  std::string id_;
  std::string steps_;
  std::string records_;
  int limit_ = 0;
};

TEST_F(CommandLineTest, HelpIsCalledAsTheProgramIs) {
  const auto help = [&](const std::vector<std::string>& words) {
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(ParseCommandLine(app_, words, "plimsoll runs"), 0);
    return ::testing::internal::GetCapturedStdout();
  };
  EXPECT_THAT(help({"--help"}), HasSubstr("Usage: plimsoll runs [OPTIONS] SUBCOMMAND"));
  EXPECT_THAT(help({"export", "--help"}), HasSubstr("Usage: plimsoll runs export [OPTIONS] ID"));
}

TEST_F(CommandLineTest, AValueByItsPlaceIsNoCommand) {
  EXPECT_EQ(ParseCommandLine(app_, {"export", "r1", "--steps", "csv"}, "plimsoll runs"),
            std::nullopt);
  EXPECT_EQ(id_, "r1");
  EXPECT_EQ(steps_, "csv");
}

TEST_F(CommandLineTest, BesideAValueByItsPlaceWhatIsWrongIsSaid) {
  EXPECT_THAT(Refused({"export", "x"}), AllOf(HasSubstr("--steps"), Not(HasSubstr("unknown"))));
  EXPECT_THAT(Refused({"export", "x", "--steps", "csv", "--records", "csv"}),
              AllOf(HasSubstr("--steps"), Not(HasSubstr("unknown"))));
  EXPECT_THAT(Refused({"export", "x", "--steps", "xml"}),
              AllOf(HasSubstr("xml"), Not(HasSubstr("unknown"))));
}

TEST_F(CommandLineTest, AFlagOfAGroupIsOneOfTheCommands) {
  EXPECT_THAT(Refused({"export", "x", "--stepz", "csv"}), HasSubstr("did you mean --steps?"));
  EXPECT_THAT(Refused({"export", "--qqqqqqqqqq", "x"}),
              AllOf(HasSubstr("no flag of plimsoll runs export"), HasSubstr("--records")));
}

TEST_F(CommandLineTest, WhatIsMissingOrTooMuchIsNamedWithTheCommandToAskForHelp) {
  EXPECT_THAT(
      Refused({"list", "--limit"}),
      HasSubstr("a value is missing for --limit, which is: How many (see plimsoll runs list "
                "--help)"));
  EXPECT_THAT(Refused({"list", "--limit", "x"}),
              HasSubstr("'x' is no value for --limit, which is: How many"));
  EXPECT_THAT(Refused({"list", "more"}), HasSubstr("plimsoll runs list takes no such word: more"));
  EXPECT_THAT(Refused({"export", "x", "y\x1b[2J", "--steps", "csv"}),
              AllOf(HasSubstr("takes no such word: y"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(Refused({"export"}), HasSubstr("(see plimsoll runs export --help)"));
  EXPECT_THAT(Refused({}),
              HasSubstr("a command is missing after plimsoll runs; known are list and export (see "
                        "plimsoll runs --help)"));
}

TEST(NotWhole, TakesDigitsAlone) {
  for (const char* good : {"0", "7", "18446744073709551615"}) EXPECT_EQ(NotWhole(good), "") << good;
  for (const char* bad : {"-1", "", " 1", "1.5", "18446744073709551616", "x"}) {
    EXPECT_THAT(NotWhole(bad), HasSubstr("whole number")) << bad;
  }
}

TEST_F(CommandLineTest, AnUnknownCommandIsNamedWithTheNearest) {
  EXPECT_THAT(Refused({"exprot", "x"}),
              HasSubstr("did you mean 'export'? known are list and export"));
  EXPECT_THAT(Refused({"a\x1b[2Jb"}), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace plimsoll
