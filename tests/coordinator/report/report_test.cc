// Both reports against golden files (PLIMSOLL_UPDATE_GOLDEN=1 rewrites them; review the diff), and
// what must hold whatever they say.
#include <limits>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/text.h"
#include "common/json/json.h"
#include "coordinator/report/json_report.h"
#include "coordinator/report/text_layout.h"
#include "coordinator/report/text_report.h"
#include "tests/coordinator/report/sample_model.h"
#include "tests/fakes/golden.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::EmptyRun;
using ::plimsoll::testing::ExpectGolden;
using ::plimsoll::testing::RunOfManyLimits;
using ::plimsoll::testing::SampleRun;
using ::plimsoll::testing::SweptRun;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

void ExpectFits(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(Columns(line), kReportColumns) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    EXPECT_EQ(line, Printable(line));
  }
}

TEST(TextReport, MatchesTheGoldenFiles) {
  ExpectGolden("report/sample.txt", TextReport(SampleRun()));
  ExpectGolden("report/empty.txt", TextReport(EmptyRun()));
  ExpectGolden("report/many_limits.txt", TextReport(RunOfManyLimits()));
}

TEST(TextReport, SaysHowEachStepCameAbout) {
  ExpectGolden("report/sweep.txt", TextReport(SweptRun()));
  ExpectFits(TextReport(SweptRun()));
}

TEST(JsonReport, SaysHowEachStepCameAbout) {
  const auto json = nlohmann::json::parse(JsonReport(SweptRun()));
  EXPECT_EQ(json["steps"][0]["origin"]["kind"], "planned");
  EXPECT_EQ(json["steps"][1]["origin"]["kind"], "extension");
  EXPECT_EQ(json["steps"][2]["origin"]["failed_early"]["after_blocks"], 2);
  EXPECT_EQ(json["steps"][2]["origin"]["failed_early"]["measured_s"], 122.0);
  EXPECT_TRUE(json["steps"][3]["origin"]["failed_early"].is_null());
  EXPECT_EQ(json["steps"][4]["origin"]["ladder"], "light");
  EXPECT_EQ(json["tier_ladders"][0]["tier"], "light");
  EXPECT_EQ(
      json["tier_ladders"][0]["sentence"],
      "10 sessions passed last (9.7 requests in flight), 15 failed first (14.5): TTFT, errors");
  EXPECT_EQ(json["tier_ladders"][0]["last_passed"],
            (nlohmann::json{{"sessions", 10}, {"requests_in_flight", 9.7}}));
  EXPECT_EQ(json["tier_ladders"][0]["first_failed"]["sessions"], 15);
  EXPECT_EQ(json["tier_ladders"][0]["first_failed"]["requests_in_flight"], 0.97 * 15);
}

TEST(JsonReport, OfALadderWhatIsNotKnownIsNull) {
  ReportModel model = SweptRun();
  model.steps.pop_back();  // Light's miss.
  model.steps.back().summary.requests_in_flight_mean = 0;
  Conclude(model);
  const auto ladder = nlohmann::json::parse(JsonReport(model))["tier_ladders"][0];
  EXPECT_EQ(ladder["sentence"], "10 sessions passed last, none failed");
  EXPECT_EQ(ladder["last_passed"]["sessions"], 10);
  EXPECT_TRUE(ladder["last_passed"]["requests_in_flight"].is_null());
  EXPECT_TRUE(ladder["first_failed"].is_null());
}

TEST(JsonReport, MatchesTheGoldenFiles) {
  ExpectGolden("report/sample.json", JsonReport(SampleRun()));
  ExpectGolden("report/empty.json", JsonReport(EmptyRun()));
  ExpectGolden("report/many_limits.json", JsonReport(RunOfManyLimits()));
}

TEST(TextReport, FitsAHundredColumns) {
  ExpectFits(TextReport(SampleRun()));
  ExpectFits(TextReport(RunOfManyLimits()));
  ReportModel model = SampleRun();
  model.run_name = std::string(300, 'x');
  model.notes = {std::string(120, 'y') + " " + std::string(250, 'z')};
  model.steps[0].summary.agents[0].attempts = std::numeric_limits<std::uint64_t>::max();
  model.steps[0].summary.plan.sessions = std::numeric_limits<std::uint32_t>::max();
  ExpectFits(TextReport(model));
}

TEST(TextReport, SaysTheVerdictFirst) {
  const std::string text = TextReport(SampleRun());
  EXPECT_EQ(text.rfind("FAIL       15 sessions miss (14.5 requests in flight): TTFT", 0), 0u)
      << text;
  EXPECT_EQ(TextReport(EmptyRun()).rfind("NO DATA    no step was run", 0), 0u);
}

TEST(TextReport, SaysWhichIdentityDoesNotHold) {
  const std::string text = TextReport(SampleRun());
  EXPECT_THAT(text, HasSubstr("identities DO NOT hold: acked = stored (590 against 600)"));
  EXPECT_THAT(text, HasSubstr("identities hold, all 1"));
  EXPECT_THAT(text, HasSubstr("90% of 550 calls reach or beat 18 tok/s per user"));
}

TEST(TextReport, SaysWhyThereIsNoInteractivity) {
  ReportModel model = SampleRun();
  model.steps.resize(1);
  RateSummary& rate = model.steps[0].summary.rate;
  rate = {.n = 30, .one_chunk = 570};
  EXPECT_THAT(TextReport(model),
              HasSubstr("  interactivity  30 calls had one or failed, at least 36 are needed for "
                        "P90; 570 answered in one\n                 chunk have none\n"));
  rate = {.n = 1};
  EXPECT_THAT(TextReport(model),
              HasSubstr("1 call had one or failed, at least 36 are needed for P90\n"));
  rate = {};
  EXPECT_THAT(TextReport(model), HasSubstr("  interactivity  no call had one\n"));
  rate.one_chunk = 600;
  EXPECT_THAT(TextReport(model),
              HasSubstr("  interactivity  no call had one; 600 answered in one chunk have none\n"));
}

TEST(Reports, TextFromAPeerCannotSteerATerminalOrBreakTheJson) {
  ReportModel model = SampleRun();
  model.steps[0].summary.agents[0].name =
      "a\x1b[31m\n\xff\xc2\x9b"
      "b\"";
  model.run_name = "\xe2\x82";
  const std::string text = TextReport(model);
  ExpectFits(text);
  EXPECT_THAT(text, HasSubstr("a\\x1b[31m\\n\\xff\\xc2\\x9bb\""));
  const auto json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  EXPECT_FALSE(json.is_discarded());
}

TEST(JsonReport, HoldsWhatTheModelHolds) {
  const ReportModel model = SampleRun();
  const auto json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["verdict"]["exit_code"], 1);
  EXPECT_TRUE(json["run"]["exit_code"].is_null());  // It has not ended.
  EXPECT_EQ(json["capacity"]["last_passed_sessions"], 10);
  EXPECT_EQ(json["capacity"]["first_failed_sessions"], 15);
  const auto& sessions = json["capacity"]["sessions"];
  EXPECT_EQ(sessions["value"]["kind"], "at");
  EXPECT_GE(sessions["low_95"]["sessions"], 10.0);
  EXPECT_EQ(sessions["high_95"]["whole_sessions"], model.capacity.band->high.whole());
  EXPECT_TRUE(sessions["value"]["requests_in_flight_interpolated"]);
  EXPECT_EQ(json["capacity"]["parts"][2]["key"], "errors");
  EXPECT_EQ(json["capacity"]["parts"].size(), json["bar"].size());
  ASSERT_EQ(json["steps"].size(), 3u);
  EXPECT_TRUE(json["steps"][1]["void"]);
  EXPECT_EQ(json["steps"][0]["outcomes"]["ok"], 600);
  EXPECT_TRUE(json["steps"][2]["ttft"].contains("p90_s"));
}

// The step of a run that was stopped, after two minutes of its five.
ReportModel Interrupted() {
  ReportModel model = SampleRun();
  StepEvidence evidence = testing::Healthy();
  evidence.lane_state_ns = {};
  evidence.planned_lane_ns = 0;
  evidence.requests_in_flight_mean = 0;
  evidence.identities.clear();
  evidence.replay = model.steps[2].summary.replay;
  for (TierReplay& tier : evidence.replay.tiers) tier.fidelity = {};
  model.steps = {{.summary = SummarizeBrokenOff(evidence, testing::DefaultBar(), 120s)}};
  Conclude(model);
  return model;
}

TEST(Reports, OfAnInterruptedStepNothingUnmeasuredIsShown) {
  const auto json = nlohmann::json::parse(JsonReport(Interrupted()), nullptr, false);
  const auto& step = json["steps"][0];
  EXPECT_EQ(step["stopped_after_s"], 120);
  for (const char* key : {"offered_share", "sent_share", "lane_time_share",
                          "requests_in_flight_mean", "unsent_calls"}) {
    EXPECT_TRUE(step[key].is_null()) << key;
  }
  EXPECT_TRUE(step["parts"][0]["within_share"].is_null());
  EXPECT_TRUE(step["parts"][2]["failed_share"].is_null());
  EXPECT_EQ(step["agents"][0]["lanes"], 10);
  EXPECT_FALSE(step["agents"][0]["lost"]);
  for (const char* key : {"attempts", "skew_ms", "lateness_p99_ms", "lateness_max_ms",
                          "loop_lag_max_ms", "loop_stalled_ms", "cpu_share_max", "records_lost"}) {
    EXPECT_TRUE(step["agents"][0][key].is_null()) << key;
  }
  for (const auto& [key, figure] : step["agents"][0]["host"].items()) {
    EXPECT_TRUE(figure.is_null()) << key;
  }
  EXPECT_TRUE(step["replay"]["tiers"][0]["pauses"].is_null());
  EXPECT_TRUE(step["replay"]["tiers"][0]["turns_live"].is_null());
  EXPECT_EQ(step["replay"]["tiers"][0]["corpus_calls"], 1000);
  EXPECT_EQ(step["ok_calls_per_s"], 5);  // 600 in the two minutes.
  EXPECT_EQ(step["tokens_out"], 240'000);
  EXPECT_EQ(step["attempts"], 600);
  EXPECT_TRUE(json["capacity"]["requests_in_flight"].is_null());
  EXPECT_THAT(TextReport(Interrupted()), Not(HasSubstr("assistant turns")));
}

TEST(Reports, OfAStepThatAnAgentDidNotTellOfNothingUnmeasuredIsShown) {
  ReportModel model = SampleRun();
  model.steps = {model.steps[0]};
  AgentEvidence silent = {.slot = 1, .name = "agent-1", .lanes = 5, .no_tally = true};
  model.steps[0].summary.agents.push_back(silent);
  const auto json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  const auto& step = json["steps"][0];
  EXPECT_TRUE(step["sent_share"].is_null());
  EXPECT_TRUE(step["requests_in_flight_mean"].is_null());
  EXPECT_TRUE(step["agents"][1]["skew_ms"].is_null());
  EXPECT_EQ(step["agents"][0]["attempts"], 600);  // It has told.
  EXPECT_THAT(TextReport(model), ContainsRegex("agent-1 +5 +– +– +– +– +–\n"));
}

TEST(Reports, TokensThatNobodyReportedAreNotZero) {
  ReportModel model = SampleRun();
  StepSummary& s = model.steps[0].summary;
  s.tokens_in.reset();
  s.tokens_cached.reset();
  s.tokens_out.reset();
  s.calls_ok_per_s.reset();
  s.fidelity = {};
  model.steps[1].summary.tokens_cached = 0;  // Reported, and none.
  const auto json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  const auto& step = json["steps"][0];
  for (const char* key : {"tokens_in", "tokens_cached", "tokens_out", "ok_calls_per_s"}) {
    EXPECT_TRUE(step[key].is_null()) << key;
  }
  EXPECT_EQ(json["steps"][1]["tokens_cached"], 0);
  EXPECT_THAT(TextReport(model), HasSubstr("those in not reported, cached ones not reported; "
                                           "those out not reported"));
  EXPECT_THAT(TextReport(model), HasSubstr("9,000,000 in, 0 of them cached; 240,000 out"));
}

TEST(Reports, SayWhatTheHeldLoadCostsOrWhyNot) {
  ReportModel model = SampleRun();
  // 57.60 an hour for 10 sessions, and for 108 + 2.88 M tokens.
  EXPECT_THAT(TextReport(model), HasSubstr("cost       5.76 USD per session-hour (4 nodes at 14.4 "
                                           "USD an hour, 10 sessions with"));
  EXPECT_THAT(TextReport(model),
              HasSubstr(" 9.7 requests in\n           flight); per million tokens"));
  auto json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  EXPECT_DOUBLE_EQ(json["cost"]["per_session_hour"], 5.76);
  EXPECT_DOUBLE_EQ(json["cost"]["per_million_tokens"], 57.6 / 110.88);
  EXPECT_DOUBLE_EQ(json["cost"]["sessions_per_node"], 2.5);
  EXPECT_EQ(json["recipe"]["files"][0]["path"], "recipes/7.yaml");
  model.steps[0].summary.tokens_cached.reset();
  model.steps[0].summary.fidelity.cached_n = 0;
  Conclude(model);
  EXPECT_THAT(TextReport(model), HasSubstr("usage reports no cached tokens"));
  json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  EXPECT_TRUE(json["cost"]["per_million_tokens_if_cached_in_carried_all"].is_null());
  EXPECT_EQ(json["cost"]["absent_because"]["per_million_tokens_if_cached_in_carried_all"],
            "usage reports no cached tokens");
  model.price.reset();
  Conclude(model);
  EXPECT_THAT(TextReport(model), HasSubstr("cost       not known: add cost: {nodes: 4"));
  model.steps.clear();
  Conclude(model);
  json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  EXPECT_EQ(json["cost"]["absent_because"]["per_session_hour"], "no step held");
}

TEST(Reports, CapacityCostAndTargetAreOfTheMixAlone) {
  ReportModel model = testing::SweptRun();
  model.price = CostSettings{.nodes = 4, .micros = 14'400'000, .currency = "USD"};
  // The light ladder's step of 15 held, too, with other tokens.
  StepSummary light = model.steps[3].summary;
  light.origin = {.ladder = "light"};
  light.tokens_out = 1;
  model.steps.push_back({.summary = light});
  light.plan.sessions = 40;
  model.steps.push_back({.summary = light});
  Conclude(model);
  EXPECT_EQ(model.capacity.passed, 15u);
  EXPECT_EQ(model.cost.sessions, 15u);
  EXPECT_EQ(model.cost.mtok_per_hour.out,
            CostOfStep(model.steps[3].summary, model.price).mtok_per_hour.out);
  ASSERT_EQ(model.tier_ladders.size(), 1u);
  EXPECT_THAT(model.tier_ladders[0].bracket.sentence, HasSubstr("40 sessions passed last"));
}

TEST(Reports, WhatAMachineDoesNotSayIsShownAsNothingAndOneThatSaysNothingNotAtAll) {
  ReportModel model = SampleRun();
  model.steps = {model.steps[0]};
  HostLoad& host = model.steps[0].summary.agents[0].host;
  host = {.cores_used_max = 1.234,
          .throttled_ns = model.steps[0].summary.plan.measure.count() / 40,
          .descriptors_max = 12,
          .ports_limit = 9};
  EXPECT_THAT(TextReport(model), ContainsRegex("  agent-0 +1.23/– +– +2.5 +– +12/– +–\n"));
  const auto json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  const auto& shown = json["steps"][0]["agents"][0]["host"];
  EXPECT_EQ(shown["cores_used_max"], 1.234);
  EXPECT_EQ(shown["descriptors_max"], 12);
  EXPECT_EQ(shown["ports_limit"], 9);
  for (const char* key :
       {"cores", "thread_share_max", "stolen_ms", "descriptors_limit", "ports_max"}) {
    EXPECT_TRUE(shown[key].is_null()) << key;
  }
  host = {};
  EXPECT_THAT(TextReport(model), Not(HasSubstr("its machine")));
}

TEST(JsonReport, NumbersThatJsonCannotHoldAreNull) {
  ReportModel model = SampleRun();
  model.steps[0].summary.agents[0].cpu_share_max = std::numeric_limits<double>::quiet_NaN();
  model.bar.limits[0].value = std::numeric_limits<double>::infinity();
  const auto json = nlohmann::json::parse(JsonReport(model), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_TRUE(json["steps"][0]["agents"][0]["cpu_share_max"].is_null());
  EXPECT_TRUE(json["bar"][0]["limit"].is_null());
}

TEST(TextLayout, CountsCharactersAndWrapsByWords) {
  EXPECT_EQ(Columns("P90 · 5–6"), 9u);
  EXPECT_EQ(Wrap("a: ", "one two three", 10), "a: one two\n   three\n");
  EXPECT_EQ(Wrap("", "", 10), "\n");
  EXPECT_EQ(Wrap("", "abcdefghijkl", 5), "abcde\nfghij\nkl\n");
  EXPECT_EQ(Wrap("", "ééé", 2), "éé\né\n");
}

TEST(TextLayout, AlignsColumns) {
  EXPECT_EQ(Table({{"a", "bb"}, {"ccc", "–"}}, 1), "a    bb\nccc   –\n");
  EXPECT_EQ(Table({{"a", "b"}, {"c"}}, 1), "a  b\nc\n");
}

}  // namespace
}  // namespace plimsoll
