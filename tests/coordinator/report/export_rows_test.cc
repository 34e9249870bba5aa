// Rows for other programs: the same columns in header, CSV and JSON, and quoting that survives.
#include "coordinator/report/export_rows.h"

#include <limits>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/report/sample_model.h"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

// One record of RFC 4180.
std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (quoted && line[i] == '"' && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  EXPECT_EQ(line.back(), '\n');
  EXPECT_FALSE(quoted);
  return cells;
}

std::vector<std::string> KeysOf(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

CallRecord ARecord() {
  CallRecord r;
  r.step = 2;
  r.lane = 3;
  r.block = 4;
  r.first_released = 1'000'000'001;
  r.released = 1'000'000'002;
  r.first_token = 9'007'199'254'740'993;  // Beyond what a double can tell apart.
  r.end = 9'007'199'254'740'995;
  r.tokens_in = 100;
  r.http_status = 200;
  r.outcome = Outcome::kOk;
  r.flags = kNewConnection | kLastAttempt;
  return r;
}

TEST(ExportRows, HeaderAndBothFormsHaveTheSameColumns) {
  const StepRow step{.summary = testing::SampleRun().steps[2].summary, .notes = {"a", "b"}};
  std::string csv;
  std::string json;
  AppendStep(RowForm::kCsv, step, &csv);
  AppendStep(RowForm::kJsonl, step, &json);
  const auto header = Cells(StepHeader(RowForm::kCsv));
  EXPECT_EQ(Cells(csv).size(), header.size());
  EXPECT_EQ(KeysOf(Json::parse(json)), header);
  csv.clear();
  json.clear();
  AppendRecord(RowForm::kCsv, {}, ARecord(), &csv);
  AppendRecord(RowForm::kJsonl, {}, ARecord(), &json);
  EXPECT_EQ(Cells(csv).size(), Cells(RecordHeader(RowForm::kCsv)).size());
  EXPECT_EQ(KeysOf(Json::parse(json)), Cells(RecordHeader(RowForm::kCsv)));
  EXPECT_EQ(StepHeader(RowForm::kJsonl), "");
}

TEST(ExportRows, InstantsAreWholeNanosecondsAndWhatIsAbsentIsEmpty) {
  const keys::BatchKey batch{"r", 1, std::numeric_limits<std::uint64_t>::max(), 7};
  std::string line;
  AppendRecord(RowForm::kJsonl, batch, ARecord(), &line);
  const Json json = Json::parse(line);
  EXPECT_EQ(json["first_token_ns"].get<std::int64_t>(), 9'007'199'254'740'993);
  EXPECT_TRUE(json["sent_ns"].is_null());
  EXPECT_TRUE(json["tokens_out"].is_null());
  EXPECT_EQ(json["tokens_in"], 100);
  EXPECT_EQ(json["incarnation"], "18446744073709551615");
  EXPECT_EQ(json["released_in"], "measured");
  EXPECT_EQ(json["block"], 4);
  EXPECT_EQ(json["outcome"], "ok");
  EXPECT_EQ(json["new_connection"], true);
  EXPECT_EQ(json["cap_reached"], false);
  line.clear();
  CallRecord warm_up = ARecord();
  warm_up.block = kWarmUpBlock;
  AppendRecord(RowForm::kJsonl, batch, warm_up, &line);
  EXPECT_EQ(Json::parse(line)["released_in"], "warm_up");
  EXPECT_TRUE(Json::parse(line)["block"].is_null());
}

TEST(ExportRows, ReasonsWithCommasQuotesAndLinesSurvive) {
  StepRow step;
  step.notes = {"lost \"b\", twice", "x\ny"};
  std::string csv;
  AppendStep(RowForm::kCsv, step, &csv);
  EXPECT_EQ(Cells(csv).back(), "lost \"b\", twice; x\ny");
  step.notes = {"\xff"};
  std::string json;
  AppendStep(RowForm::kJsonl, step, &json);
  EXPECT_EQ(Json::parse(json)["notes"], "\xEF\xBF\xBD");
}

TEST(ExportRows, InfiniteIsSaidAndNoNumberIsMadeUp) {
  StepRow step;
  step.summary.ttft.p90_s = {std::nullopt, true};
  step.summary.ttft.p50_s = {0.1, false};
  step.summary.requests_in_flight_mean = std::numeric_limits<double>::infinity();
  std::string line;
  AppendStep(RowForm::kJsonl, step, &line);
  const Json json = Json::parse(line);
  EXPECT_TRUE(json["ttft_p90_ns"].is_null());
  EXPECT_EQ(json["ttft_p90_infinite"], true);
  EXPECT_EQ(json["ttft_p50_ns"], 100'000'000);
  EXPECT_TRUE(json["requests_in_flight_mean"].is_null());
  EXPECT_TRUE(json["bar_ttft_verdict"].is_null());
}

}  // namespace
}  // namespace plimsoll
