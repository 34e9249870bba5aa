// The servers' side in the reports: of a sample run against golden files, and what must hold.
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text.h"
#include "common/json/json.h"
#include "coordinator/report/export_rows.h"
#include "coordinator/report/json_report.h"
#include "coordinator/report/server_text.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/report/text_report.h"
#include "tests/coordinator/report/sample_model.h"
#include "tests/fakes/golden.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::ExpectGolden;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

PartVerdict Said(const Limit& limit, Verdict verdict, std::string reason, std::uint64_t n = 600) {
  return {.limit = limit, .verdict = verdict, .reason = std::move(reason), .n = n};
}

// The first two steps of the sample, asked of an engine and an Envoy.
ReportModel ServedRun() {
  ReportModel model = testing::SampleRun();
  model.steps.resize(2);
  StepSummary& healthy = model.steps[0].summary;
  const std::vector<PartVerdict>& parts = healthy.verdict.parts;
  healthy.server = ServerSummary{
      .mode = JudgeMode::kBoth,
      .parts = {{PartSource::kClient, 0, parts[0]},
                {PartSource::kEngines, 0,
                 Said(parts[0].limit, Verdict::kTooClose,
                      "of 600 first tokens 84.1% came within 5 s, 97.0% within 7.5 s, limit 5.3 s, "
                      "needs 90%: cannot be resolved")},
                {PartSource::kGateway, 0,
                 Said(parts[0].limit, Verdict::kNoData, "TTFT of gw: this kind of server has none",
                      0)},
                {PartSource::kClient, 2, parts[2]},
                {PartSource::kGateway, 2,
                 Said(parts[2].limit, Verdict::kPass,
                      "0 of 600 requests were answered with an error "
                      "status")}},
      .not_got = {{PartSource::kGateway, "gw", Signal::kTtft, Missing::kByDesign,
                   "Envoy does not know tokens"}},
      .outcomes = {{PartSource::kEngines, "engine-1", Continuity::kRestarted,
                    "its start time moved"}},
      .figures = {{PartSource::kEngines, Signal::kRunning, 8.25, 12, false},
                  {PartSource::kEngines, Signal::kKvFill, 0.41, 0.97, true},
                  {PartSource::kEngines, Signal::kPreempted, 0, std::nullopt, false},
                  {PartSource::kGateway, Signal::kAccepted, 612, std::nullopt, false},
                  {PartSource::kGateway, Signal::kRequests, 0, std::nullopt, false}},
      .findings = {"engines: a histogram's last bucket holds all that it counted: 5 against 4"},
      .ends_sweep = SweepEvent::kKvCacheFull,
      .ends_why = "the KV cache held at least 95% for 42s"};
  model.steps[1].summary.server =
      ServerSummary{.mode = JudgeMode::kBoth,
                    .parts = {},
                    .not_got = {{PartSource::kGateway, "gw", Signal::kTtft, Missing::kByDesign,
                                 "Envoy does not know tokens"},
                                {PartSource::kEngines, "engine-1", Signal::kTtft, Missing::kNoPage,
                                 "connection refused \x1b[31m"}},
                    .outcomes = {},
                    .figures = {},
                    .findings = {},
                    .ends_sweep = SweepEvent::kNone,
                    .ends_why = ""};
  model.drain = DrainSummary{
      .state = DrainState::kNotBack,
      .took = 61s,
      .orphaned = 3,
      .gauges = {{PartSource::kEngines, "engine-0", Signal::kRunning, 0, 3, false}},
      .lines = {
          "engine-0: running 3, before the run 0",
          "3 requests in the engines that no caller at the gateway waits for: orphaned work"}};
  Conclude(model);
  return model;
}

TEST(ServerReport, MatchesTheGoldenFile) {
  const std::string text = TextReport(ServedRun());
  ExpectGolden("report/served.txt", text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(Columns(line), kReportColumns) << line;
    EXPECT_EQ(line, Printable(line));
  }
}

TEST(ServerReport, WantedAndNotGotSaysEachThingOnce) {
  const std::vector<std::string> lines = NotGotLines(ServedRun());
  EXPECT_THAT(lines,
              ElementsAre("gateway: TTFT of gw: this kind of server has none (Envoy does not "
                          "know tokens)",
                          HasSubstr("(at 15 sessions)")));
}

TEST(ServerReport, CountersThatFellAreResetsAndOnlyAProcessRestarts) {
  ServerSummary server;
  server.outcomes = {{PartSource::kEngines, "engine-0", Continuity::kReset, "a fell from 3 to 1"},
                     {PartSource::kEngines, "engine-1", Continuity::kRestarted, "its start moved"}};
  const auto lines = ServerLines(server);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].first, "resets");
  EXPECT_EQ(lines[0].second, "engines: engine-0: counters fell (a fell from 3 to 1)");
  EXPECT_EQ(lines[1].first, "restarts");
}

TEST(ServerReport, ARunWhoseServersWereNotAskedSaysNothingOfThem) {
  const std::string text = TextReport(testing::SampleRun());
  for (const char* word : {"wanted and not got", "drain", "engines", "gateway:"}) {
    EXPECT_THAT(text, Not(HasSubstr(word)));
  }
  const Json json = Json::parse(JsonReport(testing::SampleRun()));
  EXPECT_TRUE(json["steps"][0]["server"].is_null());
  EXPECT_TRUE(json["drain"].is_null());
}

TEST(ServerReport, JsonSaysAllOfIt) {
  const Json json = Json::parse(JsonReport(ServedRun()));
  const Json& server = json["steps"][0]["server"];
  EXPECT_EQ(server["judge"], "both");
  EXPECT_EQ(server["parts"][1]["source"], "engines");
  EXPECT_EQ(server["parts"][1]["verdict"], "too close");
  EXPECT_EQ(server["parts"][1]["key"], json["steps"][0]["parts"][0]["key"]);
  EXPECT_TRUE(server["parts"][2]["share"].is_null());
  EXPECT_EQ(server["wanted_and_not_got"][0]["missing"], "this kind of server has none");
  EXPECT_EQ(server["wanted_and_not_got"][0]["signal"], "ttft");
  EXPECT_EQ(server["restarts"][0]["what"], "the process restarted");
  EXPECT_EQ(server["figures"][1]["max"], 0.97);
  EXPECT_EQ(server["figures"][1]["partial"], true);
  EXPECT_TRUE(server["figures"][2]["max"].is_null());
  EXPECT_EQ(server["ends_sweep"], "the KV cache held at least 95% for 42s");
  EXPECT_TRUE(json["steps"][1]["server"]["ends_sweep"].is_null());
  EXPECT_EQ(json["drain"]["state"], "not back");
  EXPECT_EQ(json["drain"]["orphaned_requests"], 3);
  EXPECT_EQ(json["drain"]["gauges"][0]["now"], 3);
}

TEST(ServerReport, TheCapacityIsStoppedByTheKvCache) {
  ReportModel model = ServedRun();
  model.steps.resize(1);
  Conclude(model);
  EXPECT_THAT(model.capacity.sentence, HasSubstr("KV cache"));
}

TEST(ServerReport, ExportedPartsSayWhoseTheyAre) {
  const StepRow row{.summary = ServedRun().steps[0].summary, .notes = {}};
  std::string jsonl;
  AppendParts(RowForm::kJsonl, row, &jsonl);
  std::istringstream lines(jsonl);
  std::vector<std::string> sources;
  for (std::string line; std::getline(lines, line);) {
    sources.push_back(Json::parse(line)["source"]);
  }
  EXPECT_THAT(sources, ElementsAre("step", "client", "engines", "gateway", "step", "step", "client",
                                   "gateway"));
}

}  // namespace
}  // namespace plimsoll
