// The target's verdict, as a table over short histories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/judge/capacity.h"
#include "coordinator/judge/sweep_policy.h"

namespace plimsoll {
namespace {

PartVerdict Part(Metric metric, Verdict verdict, Lean lean = Lean::kNone) {
  return {.limit = {.metric = metric}, .verdict = verdict, .lean = lean, .reason = "r"};
}

StepResult Step(std::uint32_t sessions, Verdict verdict, Lean lean = Lean::kNone) {
  StepResult step{.sessions = sessions, .requests_in_flight = 0.8 * sessions};
  step.verdict.verdict = verdict;
  step.verdict.parts = {Part(Metric::kTtft, verdict, lean), Part(Metric::kErrors, Verdict::kPass)};
  if (verdict != Verdict::kPass) step.verdict.reasons = {"TTFT: r"};
  return step;
}
StepResult Pass(std::uint32_t n) {
  return Step(n, Verdict::kPass);
}
StepResult Fail(std::uint32_t n) {
  return Step(n, Verdict::kFail);
}
StepResult None(std::uint32_t n) {
  return Step(n, Verdict::kNoData);
}
StepResult LeanPass(std::uint32_t n) {
  return Step(n, Verdict::kTooClose, Lean::kPass);
}
StepResult LeanFail(std::uint32_t n) {
  return Step(n, Verdict::kTooClose, Lean::kFail);
}

TEST(JudgeTarget, GivesTheExitCode) {
  const struct {
    const char* name;
    SweepHistory history;
    std::optional<std::uint32_t> target;
    int code;
  } rows[] = {
      {"nothing run", {}, 15, 3},
      {"held", {Pass(10), Pass(15), Fail(20)}, 15, 0},
      {"missed", {Pass(10), Fail(15)}, 15, 1},
      {"too close", {Pass(10), LeanPass(15), Fail(20)}, 15, 2},
      {"no data", {Pass(10), None(15), None(15)}, 15, 3},
      {"repeat decided", {Pass(10), None(15), Pass(15)}, 15, 0},
      {"missed below", {Fail(10)}, 15, 1},
      {"stopped too close below", {LeanFail(10)}, 15, 2},
      {"stopped without data below", {None(10), None(10)}, 15, 3},
      {"not reached", {Pass(10)}, 15, 3},
      {"holds above", {Pass(10), Pass(20)}, 15, 0},
      {"enclosed", {Pass(10), Fail(20)}, 15, 2},
      {"contradiction", {Fail(10), Pass(20)}, 15, 2},
      {"first step held", {Pass(10), Fail(15)}, std::nullopt, 0},
      {"first step missed", {Fail(10)}, std::nullopt, 1},
      {"first step close", {LeanPass(10), Fail(15)}, std::nullopt, 2},
      {"first step without data", {None(10), None(10)}, std::nullopt, 3},
  };
  for (const auto& row : rows) {
    const TargetVerdict verdict = JudgeTarget(row.history, row.target);
    EXPECT_EQ(verdict.exit_code, row.code) << row.name << ": " << verdict.reason;
    EXPECT_FALSE(verdict.reason.empty());
  }
}

TEST(StoppedBy, RefusalsAreNamedWhereTheyKeptAStepFromBeingMeasured) {
  const auto step = [](Verdict verdict, double sent, bool is_void = false) {
    return StepResult{.sessions = 10,
                      .verdict = {.verdict = verdict, .is_void = is_void, .sent_share = sent}};
  };
  EXPECT_EQ(StoppedBy({}), "");
  EXPECT_EQ(StoppedBy({step(Verdict::kPass, 1), step(Verdict::kNoData, 0.6)}), "refusals");
  EXPECT_EQ(StoppedBy({step(Verdict::kNoData, 0.6), step(Verdict::kPass, 1)}), "") << "it went on";
  EXPECT_EQ(StoppedBy({step(Verdict::kFail, 0.6)}), "") << "it missed";
  EXPECT_EQ(StoppedBy({step(Verdict::kNoData, 0.6, true)}), "") << "void: nobody knows";
  EXPECT_EQ(StoppedBy({step(Verdict::kNoData, 1)}), "") << "too few calls";
}

TEST(LeanOf, OneLeaningFailOutweighsLeaningPasses) {
  StepVerdict step{.verdict = Verdict::kTooClose,
                   .parts = {Part(Metric::kTtft, Verdict::kTooClose, Lean::kPass),
                             Part(Metric::kErrors, Verdict::kTooClose, Lean::kFail)}};
  EXPECT_EQ(LeanOf(step), Lean::kFail);
  step.parts[1].lean = Lean::kPass;
  EXPECT_EQ(LeanOf(step), Lean::kPass);
  step.verdict = Verdict::kFail;
  EXPECT_EQ(LeanOf(step), Lean::kNone);
}

}  // namespace
}  // namespace plimsoll
