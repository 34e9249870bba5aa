// One limit of the bar: any percentile, several on one number, one tier's calls, end-to-end
// interactivity, goodput, and limits that have an interval of their own.
#include <cmath>

#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/metrics.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/judge/evidence_builder.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using testing::Healthy;
using ::testing::Not;

// Healthy calls counted against one limit: hits(cell) of 12 calls, strict and loose alike.
template <typename Hits>
StepEvidence CountedAgainst(const Hits& hits) {
  StepEvidence e = Healthy();
  for (CellCounts& cell : e.cells) cell.parts = {testing::Counted(12, hits(cell))};
  return e;
}

PartVerdict JudgeOne(const StepEvidence& evidence, const Limit& limit) {
  return JudgeStep(evidence, {.limits = {limit}}).parts.at(0);
}

TEST(JudgePart, EachPercentileOfOneNumberIsAPartOfItsOwn) {
  StepEvidence e = Healthy();
  // 11 of 12 within in every cell: 91.7%, without any spread between lanes.
  for (CellCounts& cell : e.cells)
    cell.parts = {testing::Counted(12, 11), testing::Counted(12, 11)};
  const StepVerdict step =
      JudgeStep(e, {.limits = {{Metric::kTtft, 0.75, 4}, {Metric::kTtft, 0.99, 4}}});
  EXPECT_EQ(step.parts[0].verdict, Verdict::kPass);
  EXPECT_EQ(step.parts[1].verdict, Verdict::kFail);
  EXPECT_EQ(PartsWith(step, Verdict::kFail), "TTFT P99") << "beside another limit on TTFT";
  EXPECT_EQ(step.reasons.size(), 1u);
  EXPECT_THAT(step.reasons[0], HasSubstr("TTFT P99: P99 of 600 calls 4.2"));
  EXPECT_THAT(step.parts[0].reason, HasSubstr("P75 of 600 calls"));
  // 368 calls carry a P99, 183 for 98%, and so on: fewer are no data.
  StepEvidence few = e;
  few.cells.resize(30);  // 360 calls.
  const PartVerdict p99 = JudgeStep(few, {.limits = {{Metric::kTtft, 0.99, 4}}}).parts[0];
  EXPECT_EQ(p99.verdict, Verdict::kNoData);
  EXPECT_FALSE(p99.value.has_value()) << "withheld: 360 calls cannot carry it";
  EXPECT_EQ(p99.reason, "360 calls, at least 368 are needed for P99");
}

TEST(JudgePart, ATiersLimitIsAboutItsCallsAlone) {
  // Tier 0, "heavy", is every even lane.
  StepEvidence e = CountedAgainst([](const CellCounts& cell) { return cell.tier == 0 ? 6u : 12u; });
  e.tiers.resize(2);
  for (int i = 0; i < 300; ++i) e.tiers[0].ttft_ns.Record(8'000'000'000);
  e.tiers[0].ttft_infinite = 2;
  for (int i = 0; i < 300; ++i) e.tiers[1].ttft_ns.Record(1'000'000'000);
  const PartVerdict heavy = JudgeOne(e, {Metric::kTtft, 0.9, 5, "heavy"});
  EXPECT_EQ(heavy.verdict, Verdict::kFail);
  EXPECT_EQ(heavy.n, 300u);
  EXPECT_EQ(heavy.share_within, 0.5);
  EXPECT_EQ(heavy.value, 8);
  EXPECT_THAT(heavy.reason, HasSubstr("P90 of 300 heavy calls 8 s [8–8], limit 5 s: 50.0% within"));
  const PartVerdict light = JudgeOne(e, {Metric::kTtft, 0.9, 5, "light"});
  EXPECT_EQ(light.verdict, Verdict::kPass);
  EXPECT_EQ(light.value, 1);
  const StepVerdict both = JudgeStep(e, {.limits = {{Metric::kTtft, 0.9, 5, "heavy"}}});
  EXPECT_EQ(PartsWith(both, Verdict::kFail), "heavy TTFT");
  EXPECT_THAT(both.reasons[0], HasSubstr("heavy TTFT: P90"));

  const PartVerdict unknown = JudgeOne(e, {Metric::kTtft, 0.9, 5, "mid"});
  EXPECT_EQ(unknown.verdict, Verdict::kNoData);
  EXPECT_EQ(unknown.reason, "the step has no tier 'mid'");
}

TEST(JudgePart, ErrorsAndToolCallsOfATier) {
  StepEvidence e = Healthy();
  for (CellCounts& cell : e.cells) {
    cell.failed = cell.tier == 0 ? 3 : 0;  // 75 of 300 against none.
    cell.tool_answers = 10;
    cell.tool_invalid = cell.tier == 1 ? 2 : 0;
  }
  EXPECT_EQ(JudgeOne(e, {Metric::kErrors, 0, 0.1, "heavy"}).verdict, Verdict::kFail);
  EXPECT_THAT(JudgeOne(e, {Metric::kErrors, 0, 0.1, "heavy"}).reason,
              HasSubstr("75 of 300 heavy attempts failed"));
  EXPECT_EQ(JudgeOne(e, {Metric::kErrors, 0, 0.1, "light"}).verdict, Verdict::kPass);
  EXPECT_EQ(JudgeOne(e, {Metric::kToolCalls, 0, 0.05, "light"}).verdict, Verdict::kFail);
  EXPECT_EQ(JudgeOne(e, {Metric::kToolCalls, 0, 0.05, "heavy"}).verdict, Verdict::kPass);
}

TEST(JudgePart, UsageMissingInATierIsThatTiersMatter) {
  StepEvidence e = CountedAgainst([](const CellCounts&) { return 12u; });
  e.tiers.resize(2);
  for (CallEvidence& tier : e.tiers) tier.outcomes[static_cast<std::size_t>(Outcome::kOk)] = 300;
  e.usage_missing = e.tiers[0].usage_missing = 5;  // Under 1% of all, over 1% of the heavy ones.
  for (const Metric metric : {Metric::kInteractivity, Metric::kEndToEndInteractivity}) {
    EXPECT_EQ(JudgeOne(e, {metric, 0.9, 5}).verdict, Verdict::kPass);
    EXPECT_EQ(JudgeOne(e, {metric, 0.9, 5, "light"}).verdict, Verdict::kPass);
    const PartVerdict heavy = JudgeOne(e, {metric, 0.9, 5, "heavy"});
    EXPECT_EQ(heavy.verdict, Verdict::kNoData);
    EXPECT_THAT(heavy.reason, HasSubstr("5 of 300 ok calls came without usage"));
  }
  EXPECT_EQ(JudgeOne(e, {Metric::kGoodput, 0.9, 5, "heavy"}).verdict, Verdict::kPass);
}

TEST(JudgePart, EndToEndInteractivityInWords) {
  const StepEvidence e = CountedAgainst([](const CellCounts&) { return 12u; });
  const PartVerdict part = JudgeOne(e, {Metric::kEndToEndInteractivity, 0.9, 8});
  EXPECT_EQ(part.verdict, Verdict::kPass);
  // 10, 12, …, 30 tok/s, 50 calls each: 90% of 550 reach 12.
  EXPECT_NEAR(*part.value, 12, 12.0 / 256);
  EXPECT_NEAR(*part.margin, 0.5, 0.01) << "above the limit is good";
  EXPECT_THAT(part.reason, HasSubstr("90% of 600 calls reach 12"));
  EXPECT_THAT(part.reason,
              HasSubstr(" tok/s [10–30] from release to last token, limit 8 tok/s: 100.0% "
                        "within"));
}

TEST(JudgePart, GoodputInWords) {
  StepEvidence e = CountedAgainst([](const CellCounts&) { return 6u; });
  PartVerdict part = JudgeOne(e, {Metric::kGoodput, 0.9, 12});
  EXPECT_EQ(part.verdict, Verdict::kFail);
  EXPECT_THAT(part.reason, HasSubstr("P90 of 600 calls' whole answers 16."));
  EXPECT_LT(*part.margin, 0) << "over the limit is bad";
  e.answer_infinite = 400;
  part = JudgeOne(e, {Metric::kGoodput, 0.9, 12});
  EXPECT_TRUE(part.value_infinite);
  EXPECT_THAT(part.reason,
              HasSubstr("whole answers infinite (failed calls) [infinite–infinite], limit 12 s"));
}

// A TTFT limit of `runs` baselines, 5 s, known to lie between 4.5 and 5.5 s.
Limit FromBaselines() {
  return {.metric = Metric::kTtft,
          .value = 5,
          .tier = {},
          .origin = LimitOrigin{.runs = {"a", "b", "c"},
                                .sessions = 10,
                                .factor = 1.1,
                                .baseline = 4.5454,
                                .low = 4.5,
                                .high = 5.5}};
}

StepEvidence WithHits(std::uint32_t strict, std::uint32_t hits, std::uint32_t loose) {
  StepEvidence e = Healthy();
  for (CellCounts& cell : e.cells) cell.parts = {{12, hits, strict, loose}};
  return e;
}

TEST(JudgePart, ALimitWithAnIntervalPassesAtItsStrictEndAndFailsAtItsLooseOne) {
  PartVerdict part = JudgeOne(WithHits(12, 12, 12), FromBaselines());
  EXPECT_EQ(part.verdict, Verdict::kPass);
  EXPECT_THAT(part.reason, HasSubstr("3 baseline runs, which put it at 4.5 s to 5.5 s"));
  EXPECT_THAT(part.reason, Not(HasSubstr("too wide")));

  part = JudgeOne(WithHits(6, 6, 6), FromBaselines());
  EXPECT_EQ(part.verdict, Verdict::kFail);

  part = JudgeOne(WithHits(6, 12, 12), FromBaselines());  // Passes at 5 s, fails at 4.5 s.
  EXPECT_EQ(part.verdict, Verdict::kTooClose);
  EXPECT_EQ(part.lean, Lean::kPass);
  EXPECT_EQ(part.share_within, 1) << "the share shown is the one at the value";
  EXPECT_LT(part.share_low, 0.5) << "and its interval has the limit's own in it";
  EXPECT_EQ(part.share_high, 1);
  EXPECT_THAT(part.reason, HasSubstr("too wide to decide"));

  part = JudgeOne(WithHits(6, 6, 12), FromBaselines());  // Fails at 5 s, passes at 5.5 s.
  EXPECT_EQ(part.verdict, Verdict::kTooClose);
  EXPECT_EQ(part.lean, Lean::kFail);

  part = JudgeOne(WithHits(6, 11, 12), FromBaselines());  // Crosses at 5 s itself.
  EXPECT_EQ(part.verdict, Verdict::kTooClose);
  EXPECT_EQ(part.lean, Lean::kPass);
  EXPECT_THAT(part.reason, Not(HasSubstr("too wide"))) << "it would be too close all the same";
}

TEST(JudgePart, ErrorsAgainstALimitWithAnInterval) {
  Limit limit{.metric = Metric::kErrors, .quantile = 0, .value = 0.1};
  limit.origin = LimitOrigin{
      .runs = {"a", "b"}, .sessions = 10, .factor = 1, .baseline = 0.1, .low = 0.05, .high = 0.4};
  const auto with = [](std::uint32_t failed_lanes) {
    StepEvidence e = Healthy();
    for (CellCounts& cell : e.cells) cell.failed = cell.lane < failed_lanes ? 3 : 0;
    return e;
  };
  EXPECT_EQ(JudgeOne(with(0), limit).verdict, Verdict::kPass);
  const PartVerdict between = JudgeOne(with(10), limit);  // 25%: over 10%, under 40%.
  EXPECT_EQ(between.verdict, Verdict::kTooClose);
  EXPECT_EQ(between.lean, Lean::kFail);
  EXPECT_THAT(between.reason, HasSubstr("2 baseline runs, which put it at 5.00% to 40.00%"));
  limit.origin->high = 0.11;
  EXPECT_EQ(JudgeOne(with(10), limit).verdict, Verdict::kFail);
}

TEST(JudgePart, OneBaselineRunSaysThatWindowsAreUnknown) {
  Limit limit = FromBaselines();
  limit.origin->runs = {"a"};
  limit.origin->low = limit.origin->high = std::nullopt;
  const PartVerdict part = JudgeOne(WithHits(12, 12, 12), limit);
  EXPECT_EQ(part.verdict, Verdict::kPass);
  EXPECT_THAT(part.reason, HasSubstr("one baseline run: how windows differ is unknown"));
}

TEST(JudgePart, CellsCountedAgainstAnotherBarAreNoData) {
  StepEvidence e = Healthy();
  for (CellCounts& cell : e.cells) cell.parts.clear();
  const PartVerdict part = JudgeOne(e, {Metric::kTtft, 0.9, 5});
  EXPECT_EQ(part.verdict, Verdict::kNoData);
  EXPECT_THAT(part.reason, HasSubstr("another bar"));
  Limit nan = FromBaselines();
  nan.origin->low = std::nan("");
  EXPECT_EQ(JudgeOne(WithHits(12, 12, 12), nan).verdict, Verdict::kNoData);
}

TEST(PartNames, AreTheScenariosKeys) {
  EXPECT_EQ(PartKey({Metric::kTtft, 0.9, 1}), "ttft_p90");
  EXPECT_EQ(PartKey({Metric::kGoodput, 0.995, 1, "heavy"}), "heavy.goodput_p99.5");
  EXPECT_EQ(PartKey({Metric::kErrors, 0, 1, "light"}), "light.errors");
  EXPECT_EQ(PartName({Metric::kEndToEndInteractivity, 0.999, 1}), "end-to-end interactivity P99.9");
  EXPECT_EQ(LimitText({Metric::kToolCalls, 0, 0.015}), "1.5%");
  EXPECT_EQ(LimitText({Metric::kTtft, 0.9, 1.23456}), "1.23456 s");
  EXPECT_EQ(LimitText({Metric::kTtft, 0.9, 1.23456, "", LimitOrigin{}}), "1.235 s");
  for (int m = 1; m <= kMetricsKnown; ++m) {
    const auto metric = static_cast<Metric>(m);
    ASSERT_NE(FindTraits(metric), nullptr);
    EXPECT_EQ(IsBadShare(metric), FindTraits(metric)->n == nullptr) << "of calls or of attempts";
  }
  EXPECT_EQ(FindTraits(static_cast<Metric>(kMetricsKnown + 1)), nullptr);
}

}  // namespace
}  // namespace plimsoll
