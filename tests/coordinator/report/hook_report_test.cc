// What is said of a run's hooks: as text, as JSON, in the list of runs.
#include <gmock/gmock.h>

#include "common/json/json.h"
#include "coordinator/report/hook_json.h"
#include "coordinator/report/hook_text.h"
#include "coordinator/report/run_list.h"
#include "coordinator/report/run_report.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

HookOutcome Back(HookState state, std::string output = {}) {
  return {.phase = HookPhase::kRollBack,
          .attempt = 2,
          .state = state,
          .started = WallTime(1'800'000'000s),
          .duration = 12s,
          .output = std::move(output)};
}

TEST(HookText, OneLineForEachStart) {
  ReportModel model;
  EXPECT_EQ(HookText(model), "");
  HookOutcome failed = Back(HookState::kFailed);
  failed.exit_code = 3;
  HookOutcome ended = Back(HookState::kFailed);
  ended.signal = 11;
  HookOutcome lost = Back(HookState::kCouldNotStart);
  lost.note = "no such \x1b[1mfile";
  model.hooks = {Back(HookState::kOk),       failed, ended,
                 Back(HookState::kTimedOut), lost,   Back(HookState::kKilled)};
  EXPECT_EQ(HookText(model),
            "\nhooks\n"
            "  2027-01-15 08:00:00 UTC  rollback (attempt 2) ended well after 12s\n"
            "  2027-01-15 08:00:00 UTC  rollback (attempt 2) failed with exit code 3 after 12s\n"
            "  2027-01-15 08:00:00 UTC  rollback (attempt 2) was ended by signal 11 after 12s\n"
            "  2027-01-15 08:00:00 UTC  rollback (attempt 2) ran into its deadline and was ended "
            "after 12s\n"
            "  2027-01-15 08:00:00 UTC  rollback (attempt 2) could not start: no such "
            "\\x1b[1mfile\n"
            "  2027-01-15 08:00:00 UTC  rollback (attempt 2) was ended by us after 12s\n");
}

TEST(HookText, OfABadOneTheLastLinesMadePrintable) {
  ReportModel model;
  std::string output = "first\n";
  for (int i = 0; i < 8; ++i) output += "line " + std::to_string(i) + "\n";
  model.hooks = {Back(HookState::kFailed, output + "\x1b]0;t\x07\n\n")};
  EXPECT_THAT(HookText(model), Not(HasSubstr("first")));
  EXPECT_THAT(HookText(model), Not(HasSubstr("line 0")));
  EXPECT_THAT(HookText(model), HasSubstr("      line 7\n      \\x1b]0;t\\x07\n"));
  model.hooks = {Back(HookState::kOk, output)};
  EXPECT_THAT(HookText(model), Not(HasSubstr("line 7")));
  model.hooks = {Back(HookState::kFailed, "\n\n")};
  EXPECT_THAT(HookText(model), HasSubstr("failed after 12s\n"));
}

TEST(HookText, AFailedRollbackIsSaidBeforeEverythingElse) {
  ReportModel model;
  model.run_id = "r1";
  model.rollback = RollbackState::kFailed;
  model.hooks = {Back(HookState::kFailed)};
  for (const RunState state : {RunState::kFinished, RunState::kStopped, RunState::kRunning}) {
    RunInfo info;
    info.state = state;
    const std::string text = EndText(info, model);
    EXPECT_EQ(text.find("ROLLBACK FAILED: "), 0u) << text;
    EXPECT_THAT(text, HasSubstr("plimsoll recover r1"));
    EXPECT_LT(text.find("ROLLBACK"), text.find("hooks"));
  }
  model.rollback = RollbackState::kDone;
  EXPECT_THAT(EndText(RunInfo{}, model), Not(HasSubstr("ROLLBACK")));
}

TEST(HookJson, HoldsEveryFieldAndNullForWhatIsAbsent) {
  HookOutcome hook = Back(HookState::kTimedOut, "o\xff");
  hook.signal = 9;
  hook.output_cut_bytes = 7;
  hook.note = "n";
  const Json json = Json::parse(HooksJson({hook}))[0];
  EXPECT_EQ(json["phase"], "rollback");
  EXPECT_EQ(json["attempt"], 2);
  EXPECT_EQ(json["state"], "timed out");
  EXPECT_TRUE(json["exit_code"].is_null());
  EXPECT_EQ(json["signal"], 9);
  EXPECT_EQ(json["started_at"], "2027-01-15 08:00:00 UTC");
  EXPECT_EQ(json["duration_s"], 12);
  EXPECT_EQ(json["output"], "o\xEF\xBF\xBD");
  EXPECT_EQ(json["output_cut_bytes"], 7);
  EXPECT_EQ(json["note"], "n");
  EXPECT_EQ(HooksJson({}), "[]");
}

TEST(RunList, MarksARunWhoseRollbackFailed) {
  RunInfo run{.id = "r1", .started = WallTime(1'800'000'000s), .state = RunState::kInterrupted};
  run.message = "its coordinator died";
  EXPECT_EQ(RunList({run}, ""),
            "r1  2027-01-15 08:00:00 UTC  interrupted\n    its coordinator died\n");
  run.rollback = RollbackState::kFailed;
  run.exit_code = 6;
  EXPECT_EQ(RunList({run}, ""),
            "r1  2027-01-15 08:00:00 UTC  interrupted, exit 6\n"
            "    ROLLBACK FAILED: plimsoll recover r1\n    its coordinator died\n");
}

TEST(EndText, OfAnInterruptedRunWithItsHooks) {
  RunInfo run{.id = "r1", .state = RunState::kInterrupted};
  run.message = "its coordinator died";
  ReportModel model;
  model.hooks = {Back(HookState::kOk)};
  EXPECT_THAT(EndText(run, model), HasSubstr("INTERRUPTED: its coordinator died\n"));
  EXPECT_THAT(EndText(run, model), HasSubstr("ended well"));
}

}  // namespace
}  // namespace plimsoll
