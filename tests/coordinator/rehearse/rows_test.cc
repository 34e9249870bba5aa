// The table of rows: every one is complete, its files are what gateway and coordinator read, and
// rows of a person's own are read as strictly.
#include "coordinator/rehearse/rows.h"

#include <set>
#include <string>

#include "coordinator/rehearse/row_files.h"
#include "coordinator/rehearse/rows_file.h"
#include "coordinator/scenario/scenario_reader.h"
#include "gateway/server/gateway_config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll::rehearse {
namespace {

using ::testing::HasSubstr;

const Places kPlaces{.url = "http://127.0.0.1:40123/v1", .folder = "/tmp/x"};

TEST(BuiltinRows, EachHasItsOwnNameAndSaysWhatIsDoneAndWhatMustCome) {
  std::set<std::string> names;
  for (const Row& row : BuiltinRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.fault.empty()) << row.name;
    const Expected& want = row.expect;
    EXPECT_TRUE(!want.verdicts.empty() || !want.words.empty()) << row.name << " expects nothing";
    // A verdict alone does not tell one fault from another.
    EXPECT_TRUE(want.exit_code == 0 || !want.parts.empty() || !want.words.empty() ||
                !want.drain.empty() || row.name == "metrics-stale")
        << row.name;
    if (row.strike.kind == StrikeKind::kNone) continue;
    EXPECT_FALSE(row.strike.after.empty()) << row.name;
  }
}

// Every fault that the issue lists.
TEST(BuiltinRows, AreAllThere) {
  std::set<std::string> names;
  for (const Row& row : BuiltinRows()) names.insert(row.name);
  for (const char* name : {"gateway-crash",
                           "connection-reset",
                           "429-storm",
                           "stall",
                           "error-after-200",
                           "truncated-stream",
                           "context-limit",
                           "context-limit-mid-run",
                           "slow-start",
                           "orphaned-work",
                           "queue-never-drains",
                           "kv-full",
                           "cache-off",
                           "metrics-missing",
                           "metrics-stale",
                           "metrics-reset",
                           "tool-calls-under-load",
                           "disconnect-ignored",
                           "disconnect-from-start",
                           "agent-killed",
                           "agent-frozen",
                           "agent-saturated",
                           "agent-late",
                           "records-lost",
                           "coordinator-killed",
                           "hook-hangs",
                           "hook-fails",
                           "full-disk",
                           "window-too-short",
                           "wall-clock-steps",
                           "daylight-saving"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(BuiltinRows, FilesAreWhatTheirReadersTake) {
  for (const Row& row : BuiltinRows()) {
    Row plain = row;
    // The file is beside the gateway's only once the row is run.
    std::erase_if(plain.gateway, [](const auto& one) { return one.first == "answers"; });
    const auto gateway = ParseGatewayConfig(GatewayText(plain, kPlaces), row.name);
    EXPECT_TRUE(gateway.ok()) << row.name << ": " << gateway.status();
    if (!row.needs.empty()) continue;
    const auto scenario = ParseScenario(ScenarioText(row, kPlaces), row.name, "");
    EXPECT_TRUE(scenario.ok()) << row.name << ": " << scenario.status();
  }
}

TEST(RowFiles, ARowsSettingTakesTheCommonOnesPlaceAndMarksAreFilled) {
  Row row{.name = "x", .gateway = {{"engine.copies", "3"}, {"answers", "a.jsonl"}}};
  row.scenario = {{"fleet", "{local: 2}"},
                  {"signals.gateway", R"({url: "{root}/stats", kind: envoy})"},
                  {"hooks", R"({rollback: ["{folder}/back.sh"]})"}};
  const std::string gateway = GatewayText(row, kPlaces);
  EXPECT_THAT(gateway, HasSubstr("engine:\n  copies: 3\n  prefill_tokens_per_s: 200000\n"));
  EXPECT_THAT(gateway, HasSubstr("answers: a.jsonl\n"));
  const std::string scenario = ScenarioText(row, kPlaces);
  EXPECT_THAT(scenario, HasSubstr("name: x\ntarget:\n  url: http://127.0.0.1:40123/v1\n"));
  EXPECT_THAT(scenario, HasSubstr("fleet: {local: 2}\n"));
  EXPECT_THAT(scenario, HasSubstr("url: \"http://127.0.0.1:40123/stats\""));
  EXPECT_THAT(scenario, HasSubstr("[\"/tmp/x/back.sh\"]"));
}

TEST(RowsFile, ReadsRowsOfAPersonsOwn) {
  Problems problems("rows.yaml");
  const auto rows = ReadRows(R"(
rows:
  - name: my-stall
    fault: answers fall silent
    gateway: {faults: "[{kind: stall}]"}
    scenario: {sweep.measure: 6s}
    deadline: 2m
    expect: {exit: 1, verdicts: [fail], parts: {errors: fail}, outcomes: [idle_timeout],
             drain: back, words: [miss], unsaid: [hold]}
)",
                             problems);
  EXPECT_TRUE(problems.empty()) << problems.ToStatus();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "my-stall");
  EXPECT_EQ(rows[0].gateway, (Settings{{"faults", "[{kind: stall}]"}}));
  EXPECT_EQ(rows[0].deadline, 2min);
  EXPECT_EQ(rows[0].expect.exit_code, 1);
  EXPECT_EQ(rows[0].expect.parts.at(0).second, "fail");
  EXPECT_EQ(rows[0].expect.unsaid, std::vector<std::string>{"hold"});
}

TEST(RowsFile, SaysWhatIsWrong) {
  struct {
    const char* text;
    const char* says;
  } const cases[] = {
      {"", "rows"},
      {"rows: 3", "takes a list of 1 to 1000 rows"},
      {"rows: []", "takes a list of 1 to 1000 rows"},
      {"rows: [{expect: {exit: 1}}]", "rows[0].name: is missing"},
      {"rows: [{name: ../x, expect: {exit: 1}}]", "takes up to 40 lower-case letters"},
      {"rows: [{name: a}]", "rows[0].expect: is missing"},
      {"rows: [{name: a, expect: {}}]", "exit: is missing"},
      {"rows: [{name: a, expect: {exit: 256}}]", "rows[0].expect.exit"},
      {"rows: [{name: a, expect: {exit: 1, verdict: [x]}}]", "verdict"},
      {"rows: [{name: a, expect: {exit: 1}}, {name: a, expect: {exit: 1}}]", "two rows"},
      {"rows: [3]", "rows[0]"},
  };
  for (const auto& c : cases) {
    Problems problems("rows.yaml");
    EXPECT_TRUE(ReadRows(c.text, problems).empty()) << c.text;
    EXPECT_FALSE(problems.empty()) << c.text;
    EXPECT_THAT(std::string(problems.ToStatus().message()), HasSubstr(c.says)) << c.text;
  }
}

}  // namespace
}  // namespace plimsoll::rehearse
