// The judge of rows: from a run's report to what is said of the row; hostile reports included.
#include "coordinator/rehearse/judge_row.h"

#include <string>

#include "gtest/gtest.h"

namespace plimsoll::rehearse {
namespace {

// A row that fails on errors, and the facts of a run that did.
Row FailingRow() {
  return {.name = "storm",
          .fault = "429",
          .expect = {.exit_code = 1,
                     .verdicts = {"fail"},
                     .parts = {{"errors", "fail"}},
                     .outcomes = {"refused"},
                     .words = {"6 sessions miss"}}};
}

constexpr char kReport[] = R"({
  "verdict": {"reason": "6 sessions miss: errors"},
  "drain": {"state": "back"},
  "steps": [{"verdict": "fail", "reasons": ["errors: 40 of 100 attempts failed"],
             "parts": [{"metric": "TTFT", "verdict": "no data"},
                       {"metric": "errors", "verdict": "fail"}],
             "outcomes": {"ok": 60, "refused": 40, "cut": 0}}]})";

RowFacts Facts() {
  return {.exit_code = 1, .report = kReport, .words = "FAIL  6 sessions\n        miss: errors"};
}

TEST(JudgeRow, AsExpectedItGivesTheRunsOwnReason) {
  const RowResult result = JudgeRow(FailingRow(), Facts());
  EXPECT_EQ(result.state, RowState::kAsExpected) << result.why;
  EXPECT_EQ(result.expected, "fail, exit 1");
  EXPECT_EQ(result.got, "fail, exit 1");
  EXPECT_EQ(result.why, "errors: 40 of 100 attempts failed; said: 6 sessions miss");
}

struct Case {
  const char* what;
  void (*change)(Row*, RowFacts*);
  const char* why;
};

TEST(JudgeRow, EachDifferenceIsAMismatchThatSaysWhatDiffers) {
  const Case cases[] = {
      {"exit", [](Row*, RowFacts* f) { f->exit_code = 0; }, "the exit code differs"},
      {"killed", [](Row*, RowFacts* f) { f->exit_code = std::nullopt; }, "the exit code differs"},
      {"verdicts",
       [](Row* r, RowFacts*) {
         r->expect.verdicts = {"pass", "fail"};
       },
       "the steps' verdicts differ"},
      {"part",
       [](Row* r, RowFacts*) {
         r->expect.parts = {{"TTFT", "fail"}};
       },
       "TTFT came to no data, not to fail"},
      {"no part",
       [](Row* r, RowFacts*) {
         r->expect.parts = {{"evals", "fail"}};
       },
       "evals came to nothing, not to fail"},
      {"outcome", [](Row* r, RowFacts*) { r->expect.outcomes = {"cut"}; }, "no call ended as cut"},
      {"drain", [](Row* r, RowFacts*) { r->expect.drain = "not back"; },
       "the drain came to 'back', not to 'not back'"},
      {"words", [](Row* r, RowFacts*) { r->expect.words = {"never"}; }, "it never said 'never'"},
      {"unsaid", [](Row* r, RowFacts*) { r->expect.unsaid = {"FAIL"}; }, "it said 'FAIL'"},
      {"report", [](Row*, RowFacts* f) { f->report = ""; }, "it wrote no report"},
      {"half a report", [](Row*, RowFacts* f) { f->report = R"({"steps": [)"; },
       "it wrote no report"},
      {"left behind", [](Row*, RowFacts* f) { f->left_behind = {"agent 7"}; },
       "left behind: agent 7"},
      {"rollback", [](Row* r, RowFacts*) { r->rolled_back = "x"; }, "nothing was rolled back"},
      {"trouble", [](Row*, RowFacts* f) { f->trouble = "it had not ended after 90 s"; },
       "it had not ended after 90 s"},
  };
  for (const Case& c : cases) {
    Row row = FailingRow();
    RowFacts facts = Facts();
    c.change(&row, &facts);
    const RowResult result = JudgeRow(row, facts);
    EXPECT_EQ(result.state, RowState::kMismatch) << c.what;
    EXPECT_EQ(result.why.find(c.why), 0u) << c.what << ": " << result.why;
  }
}

TEST(JudgeRow, AStepThatIsVoidForTheMachineIsBusyOnlyWhereItWasNotWanted) {
  RowFacts facts{.exit_code = 3, .report = R"({"steps": [{"verdict": "no data", "void": true,
      "reasons": ["generator-limited: agent 'a' used 99% of a core"]}]})"};
  Row row = FailingRow();
  EXPECT_EQ(JudgeRow(row, facts).state, RowState::kBusy);
  row.expect = {.exit_code = 3, .verdicts = {"no data"}};
  EXPECT_EQ(JudgeRow(row, facts).state, RowState::kAsExpected);
}

TEST(JudgeRow, WhatCannotBeRunHereIsNoMismatchAndNoPass) {
  const RowResult result = JudgeRow(FailingRow(), {.not_run = "no user namespaces"});
  EXPECT_EQ(result.state, RowState::kNotRun);
  EXPECT_EQ(result.why, "not run here: no user namespaces");
  EXPECT_EQ(result.got, "");
}

TEST(JudgeRow, AKilledCoordinatorHasNoReportAndNoCode) {
  const Row row{.expect = {.killed = true, .words = {"broken off"}}};
  const RowResult result = JudgeRow(row, {.words = "run x\n  broken off: its coordinator died"});
  EXPECT_EQ(result.state, RowState::kAsExpected) << result.why;
  EXPECT_EQ(result.got, "killed");
  EXPECT_EQ(JudgeRow(row, {.exit_code = 0, .words = "broken off"}).state, RowState::kMismatch);
}

TEST(JudgeRow, WordsForWhatNeverStarted) {
  EXPECT_EQ(ExpectedWords({.exit_code = 4}), "could not run, exit 4");
  EXPECT_EQ(ExpectedWords({.verdicts = {"no data", "pass"}, .drain = "not back"}),
            "no data, then pass, not back, exit 0");
}

TEST(JudgeRow, NoReportIsTooOdd) {
  for (const char* report : {"null", "[]", "7", R"({"steps": 3})", R"({"steps": [3, null, {}]})",
                             R"({"steps": [{"reasons": [1], "parts": {"a": 1}, "outcomes": []}]})",
                             R"({"steps": [{"outcomes": {"refused": -1}}], "drain": "x"})"}) {
    RowFacts facts = Facts();
    facts.report = report;
    EXPECT_EQ(JudgeRow(FailingRow(), facts).state, RowState::kMismatch) << report;
  }
}

}  // namespace
}  // namespace plimsoll::rehearse
