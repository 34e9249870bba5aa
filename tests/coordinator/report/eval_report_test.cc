// What is said of evals: in a sentence, as JSON, as fields of a row.
#include <gmock/gmock.h>

#include "common/json/json.h"
#include "coordinator/report/bar_text.h"
#include "coordinator/report/eval_json.h"
#include "coordinator/report/eval_rows.h"
#include "coordinator/report/eval_text.h"
#include "coordinator/report/export_rows.h"
#include "tests/coordinator/report/sample_model.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

TEST(EvalReport, OneSentenceHoldsRatesOutcomesKindsFaultsAndShare) {
  const std::string text = EvalSentence(testing::SampleEvals(), 432);
  EXPECT_EQ(text,
            "too close: 84.1% of 44 right, 95% interval 69.9 to 93.4%; unloaded 98.6% of 72; "
            "37 pass, 3 wrong, 1 no_call, 2 tool_fault, 1 cut, 4 unanswered; tool-single 15 of 22 "
            "right; tool calls: 1 unknown_tool, 1 blank_required; 10.0% of all requests; 37 of 44 "
            "passed, 95% interval 69.9% to 93.4%: 90.0% lies within");
}

TEST(EvalReport, WhatWasNotAnsweredHasNoRate) {
  EvalSummary none{.reason = "no eval was asked"};
  EXPECT_EQ(EvalSentence(none, 0),
            "no data: none answered; unloaded none answered; no eval was "
            "asked");
  const Json json = Json::parse(EvalsJson(none));
  EXPECT_TRUE(json["loaded"]["pass_share"].is_null());
  EXPECT_TRUE(json["pass_share_low_95"].is_null());
  EXPECT_TRUE(json["change_low_95"].is_null());
  EXPECT_EQ(EvalsJson(std::nullopt), "null");
}

TEST(EvalReport, JsonHoldsEveryCount) {
  const Json json = Json::parse(EvalsJson(testing::SampleEvals()));
  EXPECT_EQ(json["verdict"], "too close");
  EXPECT_EQ(json["lean"], "fail");
  EXPECT_EQ(json["loaded"]["asked"], 48);
  EXPECT_EQ(json["loaded"]["n"], 44);
  EXPECT_EQ(json["loaded"]["outcomes"]["unanswered"], 4);
  EXPECT_EQ(json["unloaded"]["outcomes"]["pass"], 71);
  EXPECT_EQ(json["pass_share_low_95"], 0.699);
  EXPECT_EQ(json["change_high_95"], -0.03);
  EXPECT_EQ(json["tool_call_faults"]["blank_required"], 1);
  EXPECT_EQ(json["kinds"][1]["kind"], "tool-single");
  EXPECT_EQ(json["kinds"][1]["loaded"]["outcomes"]["wrong"], 3);
  EXPECT_EQ(EvalBarJson({}), "null");
  EXPECT_EQ(Json::parse(EvalBarJson({.pass_rate = 0.9, .drop = std::nullopt})),
            (Json{{"pass_share", 0.9}, {"drop_share", nullptr}}));
}

TEST(EvalReport, TheBarSaysWhatItAsksOfThem) {
  Bar bar = testing::DefaultBar();
  EXPECT_THAT(BarSentence(bar), Not(HasSubstr("evals")));
  bar.evals = {.pass_rate = 0.9, .drop = 0.05};
  EXPECT_THAT(BarSentence(bar),
              HasSubstr(" · evals >= 90% right · evals at most 5 points below unloaded"));
}

TEST(EvalRows, AStepsFieldsAreEmptyWithoutAny) {
  StepRow row{.summary = testing::SampleRun().steps[0].summary, .notes = {}};
  std::string line;
  AppendStep(RowForm::kJsonl, row, &line);
  EXPECT_TRUE(Json::parse(line)["evals_asked"].is_null());
  EXPECT_TRUE(Json::parse(line)["evals_wrong"].is_null());
  EXPECT_EQ(Json::parse(line)["tool_call_unknown_tool"], 0);
  line.clear();
  row.summary = testing::SampleRun().steps[2].summary;
  AppendStep(RowForm::kJsonl, row, &line);
  const Json json = Json::parse(line);
  EXPECT_EQ(json["evals_verdict"], "too close");
  EXPECT_EQ(json["evals_asked"], 48);
  EXPECT_EQ(json["evals_wrong"], 3);
  EXPECT_EQ(json["evals_pass_share_high_95"], 0.934);
  EXPECT_EQ(json["tool_call_malformed_json"], 3);
}

TEST(EvalRows, AnEvalIsARow) {
  const keys::BatchKey key{.run = "r", .agent_slot = 2, .incarnation = 5, .sequence = 7};
  EvalRecord eval{.step = 1,
                  .lane = 3,
                  .case_index = 4,
                  .turn = 6,
                  .block = 2,
                  .released = 1000,
                  .end = 3000,
                  .http_status = 200,
                  .call = Outcome::kOk,
                  .outcome = EvalOutcome::kToolFault,
                  .tool_faults = (1u << 3) | (1u << 5)};
  std::string line;
  AppendEval(RowForm::kJsonl, key, eval, &line);
  Json json = Json::parse(line);
  EXPECT_EQ(json["released_in"], "measured");
  EXPECT_EQ(json["block"], 2);
  EXPECT_EQ(json["tool_call_faults"], "unknown_tool blank_required");
  EXPECT_EQ(json["outcome"], "tool_fault");
  eval.step = kEvalMiniRun;
  eval.block = kWarmUpBlock;
  line.clear();
  AppendEval(RowForm::kJsonl, key, eval, &line);
  json = Json::parse(line);
  EXPECT_EQ(json["released_in"], "mini_run");
  EXPECT_TRUE(json["step"].is_null());
  EXPECT_TRUE(json["lane"].is_null());
  std::string csv;
  AppendEval(RowForm::kCsv, key, eval, &csv);
  const std::string header = EvalHeader(RowForm::kCsv);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), ','), std::count(header.begin(), header.end(), ','));
}

}  // namespace
}  // namespace plimsoll
