// The table as people read it, against a golden file, and the same as JSON.
#include "coordinator/rehearse/table.h"

#include "common/json/json.h"
#include "gtest/gtest.h"
#include "tests/fakes/golden.h"

namespace plimsoll::rehearse {
namespace {

std::vector<RowResult> Sample() {
  return {{.name = "gateway-crash",
           .expected = "fail, exit 1",
           .got = "fail, exit 1",
           .why = "errors: 43 of 120 attempts failed or were never sent: 35.8%, limit 10%",
           .state = RowState::kAsExpected,
           .took = 9800ms},
          {.name = "stall",
           .expected = "fail, exit 1",
           .got = "pass, exit 0",
           .why = "the exit code differs; the run says: 6 sessions hold\x1b[31m",
           .state = RowState::kMismatch,
           .took = 11s},
          {.name = "agent-frozen",
           .expected = "no data, then pass, exit 0",
           .got = "no data, then no data, exit 3",
           .why = "the exit code differs; the run says: generator-limited: agent 'local-00.1' used "
                  "97% of a core in its worst second, over 90%",
           .state = RowState::kBusy,
           .repeated = true,
           .took = 31s},
          {.name = "full-disk",
           .expected = "no data, exit 4",
           .why = "not run here: no small disk here: user and mount namespace: Operation not "
                  "permitted",
           .state = RowState::kNotRun}};
}

TEST(RehearsalTable, IsTheGoldenOne) {
  const std::string text = TableText(Sample(), 65s);
  testing::ExpectGolden("rehearse/table.txt", text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(end - at, 100u) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(RehearsalTable, AMismatchAndABusyMachineAreOneAndWhatWasNotRunIsNot) {
  std::vector<RowResult> rows = Sample();
  EXPECT_EQ(ExitCodeOf(rows), 1);
  rows[1].state = RowState::kAsExpected;
  EXPECT_EQ(ExitCodeOf(rows), 1) << "busy";
  rows[2].state = RowState::kAsExpected;
  EXPECT_EQ(ExitCodeOf(rows), 0);
  EXPECT_NE(Sentence(rows, 65s).find("3 of 4 faults"), std::string::npos);
  EXPECT_NE(Sentence(rows, 65s).find("1 was not run here: full-disk"), std::string::npos);
}

TEST(RehearsalTable, JsonSaysTheSame) {
  const auto json = nlohmann::json::parse(
      ResultsJson(Sample(), {.versions = {"plimsoll 1", "plimsoll-agent 1"}}, 65s));
  EXPECT_EQ(json["rows"].size(), 4u);
  EXPECT_EQ(json["rows"][1]["state"], "WRONG");
  EXPECT_EQ(json["rows"][2]["repeated"], true);
  EXPECT_EQ(json["mismatches"], 1);
  EXPECT_EQ(json["too_busy"], 1);
  EXPECT_EQ(json["not_run"], 1);
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["programs"][1], "plimsoll-agent 1");
}

}  // namespace
}  // namespace plimsoll::rehearse
