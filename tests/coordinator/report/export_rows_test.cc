// Rows for other programs: the same columns in header, CSV and JSON, and quoting that survives.
#include "coordinator/report/export_rows.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <vector>

#include "common/json/json.h"
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
  EXPECT_THAT(Cells(csv), ::testing::Contains("lost \"b\", twice; x\ny"));
  step.notes = {"\xff"};
  std::string json;
  AppendStep(RowForm::kJsonl, step, &json);
  EXPECT_EQ(Json::parse(json)["notes"], "\xEF\xBF\xBD");
}

TEST(ExportRows, CostsAreOfTheStepAndEmptyWhereUnknown) {
  StepRow step{.summary = testing::SampleRun().steps[0].summary, .notes = {}};
  const CostSettings price{.nodes = 4, .micros = 14'400'000, .currency = "USD"};
  std::string line;
  AppendStep(RowForm::kJsonl, step, &line, price);
  Json json = Json::parse(line);
  EXPECT_EQ(json["cost_currency"], "USD");
  EXPECT_DOUBLE_EQ(json["cost_per_session_hour"], 5.76);
  // 0.24 M tokens out in five minutes: 2.88 M an hour for 57.60.
  EXPECT_DOUBLE_EQ(json["cost_per_million_tokens_if_out_carried_all"], 20);
  step.summary.tokens_cached.reset();
  line.clear();
  AppendStep(RowForm::kJsonl, step, &line, price);
  json = Json::parse(line);
  EXPECT_TRUE(json["cost_per_million_tokens_if_cached_in_carried_all"].is_null());
  line.clear();
  AppendStep(RowForm::kJsonl, step, &line);
  json = Json::parse(line);
  EXPECT_TRUE(json["cost_per_session_hour"].is_null());
  EXPECT_FALSE(json["cost_million_tokens_per_hour"].is_null());
  step.summary.verdict.is_void = true;
  line.clear();
  AppendStep(RowForm::kJsonl, step, &line, price);
  EXPECT_TRUE(Json::parse(line)["cost_per_session_hour"].is_null());
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

TEST(ExportRows, OfAnInterruptedStepNothingUnmeasuredIsSaid) {
  StepRow step{.summary = testing::SampleRun().steps[2].summary, .notes = {}};
  step.summary.broken_off_after = 90s;
  for (PartVerdict& part : step.summary.verdict.parts) part = {.limit = part.limit, .reason = "x"};
  std::string line;
  AppendStep(RowForm::kJsonl, step, &line);
  const Json json = Json::parse(line);
  EXPECT_EQ(json["stopped_after_ns"], 90'000'000'000);
  for (const char* column :
       {"offered_share", "sent_share", "lane_in_flight_share", "lane_idle_no_session_share",
        "requests_in_flight_mean", "unsent_calls", "bar_ttft_share", "bar_ttft_share_high_95",
        "bar_errors_share_low_95"}) {
    EXPECT_TRUE(json.contains(column)) << column;
    EXPECT_TRUE(json[column].is_null()) << column;
  }
  EXPECT_EQ(json["bar_ttft_limit"], 5.3);
  EXPECT_EQ(json["attempts"], 850);
  std::string whole;
  AppendStep(RowForm::kJsonl, {.summary = testing::SampleRun().steps[2].summary, .notes = {}},
             &whole);
  EXPECT_TRUE(Json::parse(whole)["stopped_after_ns"].is_null());
  EXPECT_EQ(Json::parse(whole)["unsent_calls"], 12);
  EXPECT_FALSE(Json::parse(whole)["bar_ttft_share"].is_null());
}

TEST(ExportRows, TokensThatNobodyReportedAreEmptyAndZeroIsSaid) {
  StepRow step{.summary = testing::SampleRun().steps[0].summary, .notes = {}};
  step.summary.tokens_in.reset();
  step.summary.tokens_cached = 0;
  step.summary.tokens_out.reset();
  step.summary.calls_ok_per_s.reset();
  std::string line;
  AppendStep(RowForm::kJsonl, step, &line);
  const Json json = Json::parse(line);
  EXPECT_TRUE(json["tokens_in"].is_null());
  EXPECT_EQ(json["tokens_cached"], 0);
  EXPECT_TRUE(json["tokens_out"].is_null());
  EXPECT_TRUE(json["ok_calls_per_s"].is_null());
  EXPECT_EQ(json["calls_with_tokens_out"], 600);
}

std::string ApiPage() {
  std::ifstream file(std::string(PLIMSOLL_SOURCE_DIR) + "/docs/api.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The lines of the page behind "$ plimsoll runs export … `words` …".
std::vector<std::string> SampleOf(const std::string& page, const std::string& words) {
  std::istringstream lines(page.substr(std::min(page.size(), page.find(words))));
  std::vector<std::string> sample;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.rfind("```", 0) != 0) sample.push_back(line + '\n');
  return sample;
}

TEST(ExportRows, TheDocumentedSamplesAreWhatTheCodeWrites) {
  const std::string page = ApiPage();
  const auto records = SampleOf(page, "--records csv | head -2");
  ASSERT_EQ(records.size(), 2u) << "docs/api.md shows a header and a row";
  EXPECT_EQ(records[0], RecordHeader(RowForm::kCsv));
  EXPECT_EQ(Cells(records[1]).size(), Cells(records[0]).size());
  const auto steps = SampleOf(page, "--steps csv | head -2");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0], StepHeader(RowForm::kCsv));
  EXPECT_EQ(Cells(steps[1]).size(), Cells(steps[0]).size());
}

TEST(ExportRows, EveryColumnOfARecordIsExplained) {
  const std::string page = ApiPage();
  const std::string table = page.substr(page.find("**Records**"));
  for (const std::string& column : Cells(RecordHeader(RowForm::kCsv))) {
    if (column.ends_with("_ns")) continue;  // "`first_released_ns` … `end_ns`".
    EXPECT_THAT(table, ::testing::HasSubstr("`" + column + "`"));
  }
}

TEST(ExportParts, HaveARowForEveryLimitAndTheSameColumnsInBothForms) {
  const StepRow row{.summary = testing::RunOfManyLimits().steps[0].summary, .notes = {}};
  const std::vector<std::string> header = Cells(PartHeader(RowForm::kCsv));
  std::string csv;
  AppendParts(RowForm::kCsv, row, &csv);
  std::istringstream lines(csv);
  std::vector<std::string> parts;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = Cells(line + "\n");
    ASSERT_EQ(cells.size(), header.size());
    parts.push_back(cells[2]);
  }
  EXPECT_THAT(parts,
              ::testing::ElementsAre("ttft_p90", "ttft_p99", "heavy.ttft_p90", "interactivity_p90",
                                     "end_to_end_interactivity_p90", "goodput_p90", "errors"));
  std::string jsonl;
  AppendParts(RowForm::kJsonl, row, &jsonl);
  const Json first = Json::parse(jsonl.substr(0, jsonl.find('\n')));
  EXPECT_EQ(KeysOf(first), header);
  EXPECT_EQ(first["limit_from_runs"], "20260101-a; 20260102-b; 20260103-c");
  EXPECT_EQ(first["limit_low_95"], 3.7);
  EXPECT_EQ(first["verdict"], "too close");
  EXPECT_EQ(PartHeader(RowForm::kJsonl), "");
}

TEST(ExportSteps, AStepsColumnsAreOfTheFirstLimitOnAllCalls) {
  const StepRow row{.summary = testing::RunOfManyLimits().steps[0].summary, .notes = {}};
  std::string jsonl;
  AppendStep(RowForm::kJsonl, row, &jsonl);
  const Json json = Json::parse(jsonl);
  EXPECT_EQ(json["bar_ttft_limit"], 4.18);
  EXPECT_EQ(json["bar_goodput_limit"], 15);
  EXPECT_EQ(json["bar_end_to_end_interactivity_verdict"], "pass");
  EXPECT_TRUE(json["bar_tool_calls_limit"].is_null());
}

}  // namespace
}  // namespace plimsoll
