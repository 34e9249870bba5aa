// Capacity and the target's verdict, as tables over short histories.
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

TEST(Capacity, SaysNoMoreThanWasMeasured) {
  const struct {
    SweepHistory history;
    std::optional<std::uint32_t> passed;
    std::optional<std::uint32_t> failed;
    const char* sentence;
  } rows[] = {
      {{}, {}, {}, "no capacity: no step was decided"},
      {{Pass(10), Fail(15)}, 10, 15, "10 sessions hold (8.0 requests in flight); 15 do not: TTFT"},
      {{Pass(5), Pass(10), Pass(20)},
       20,
       {},
       ">= 20 sessions (16.0 requests in flight), ceiling not found"},
      {{Fail(5)}, {}, 5, "< 5 sessions: the first step already misses: TTFT"},
      {{Pass(5), LeanPass(10), Fail(15)},
       5,
       15,
       "5 sessions hold (4.0 requests in flight); 15 do not: TTFT; 10 is too close to call, "
       "leaning pass"},
      {{Pass(5), LeanFail(10)},
       5,
       {},
       ">= 5 sessions (4.0 requests in flight), ceiling not found; 10 is too close to call, "
       "leaning fail"},
      {{LeanPass(5), Fail(10)},
       {},
       10,
       "< 10 sessions: TTFT; no step below was found to hold; 5 is too close to call, leaning "
       "pass"},
      {{LeanFail(5)},
       {},
       {},
       "no capacity: no step was decided; 5 is too close to call, leaning fail"},
      {{None(5), None(5)}, {}, {}, "no capacity: no step was decided; 5 has no data"},
      {{None(5), Pass(5), Fail(10)},
       5,
       10,
       "5 sessions hold (4.0 requests in flight); 10 do not: TTFT"},
      {{Pass(5), None(5), None(10), None(10)},
       5,
       {},
       ">= 5 sessions (4.0 requests in flight), ceiling not found; 10 has no data"},
      {{Pass(5), Fail(10), Pass(15)},
       5,
       10,
       "5 sessions hold (4.0 requests in flight); 10 do not: TTFT; 15 passed all the same"},
  };
  for (const auto& row : rows) {
    const Capacity capacity = CapacityOf(row.history);
    EXPECT_EQ(capacity.sentence, row.sentence);
    EXPECT_EQ(capacity.passed, row.passed) << row.sentence;
    EXPECT_EQ(capacity.failed, row.failed) << row.sentence;
    EXPECT_EQ(capacity.limited_by.has_value(), row.failed.has_value()) << row.sentence;
    EXPECT_DOUBLE_EQ(capacity.requests_in_flight, 0.8 * row.passed.value_or(0)) << row.sentence;
  }
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
