// The ends of a percentile's interval: where calls failed, hardly any were made, or none has a
// value.
#include <cmath>
#include <vector>

#include "common/base/rng.h"
#include "coordinator/judge/judge_part.h"
#include "coordinator/judge/value_interval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/judge/measured_step.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using testing::HighOf;
using testing::JudgeOne;
using testing::kInf;
using testing::LowOf;
using testing::Measured;
using ::testing::Not;
using testing::Ttft;

const ShownPercentile kOpen;

TEST(ValueInterval, ShowsInTheReasonAndIsWithheldWithTheValue) {
  Rng rng(3);
  const auto calls = [&](std::uint32_t, std::uint32_t) { return 2 + 2 * rng.Uniform(); };
  const PartVerdict part = JudgeOne(Measured(Ttft(3), {}, calls), Ttft(3));
  ASSERT_TRUE(part.value_low.value && part.value_high.value);
  EXPECT_EQ(part.verdict, Verdict::kFail);
  EXPECT_THAT(
      part.reason,
      ::testing::MatchesRegex("P90 of 600 calls 3\\.8. s \\[3\\.7.?–3\\.[89].?\\], limit 3 s: .*"));
  const PartVerdict few = JudgeOne(Measured(Ttft(3), {.lanes = 3, .blocks = 1}, calls), Ttft(3));
  EXPECT_EQ(few.verdict, Verdict::kTooClose) << "36 calls";
  const PartVerdict fewer =
      JudgeOne(Measured(Ttft(3), {.lanes = 7, .blocks = 1, .calls = 2}, calls), Ttft(3));
  EXPECT_EQ(fewer.verdict, Verdict::kNoData);
  EXPECT_FALSE(fewer.value.has_value());
  EXPECT_EQ(fewer.value_low, kOpen);
  EXPECT_EQ(fewer.value_high, kOpen);
}

TEST(ValueInterval, OneClusterBoundsNothing) {
  Rng rng(4);
  const auto calls = [&](std::uint32_t, std::uint32_t) { return 2 + 2 * rng.Uniform(); };
  StepEvidence e = Measured(Ttft(3.5), {.lanes = 1, .blocks = 1, .calls = 40}, calls);
  e.cells.resize(1);  // One run of 40 calls.
  const PartVerdict one = JudgeOne(e, Ttft(3.5));
  EXPECT_EQ(one.verdict, Verdict::kTooClose);
  EXPECT_TRUE(one.value.has_value());
  EXPECT_EQ(one.value_low, kOpen);
  EXPECT_EQ(one.value_high, kOpen);
  EXPECT_THAT(one.reason, Not(HasSubstr("[")));
  const PartVerdict more =
      JudgeOne(Measured(Ttft(3.5), {.lanes = 1, .blocks = 10, .calls = 40}, calls), Ttft(3.5));
  ASSERT_TRUE(more.value_low.value && more.value_high.value) << more.reason;
  EXPECT_LT(LowOf(more), 3.8);
  EXPECT_GT(HighOf(more), 3.8);
}

TEST(ValueInterval, TooFewCallsLeaveItsFarEndOpen) {
  Rng rng(5);
  const auto calls = [&](std::uint32_t, std::uint32_t) { return 2 + 2 * rng.Uniform(); };
  const PartVerdict part =
      JudgeOne(Measured(Ttft(3.7), {.lanes = 5, .blocks = 2, .calls = 2}, calls), Ttft(3.7));
  EXPECT_EQ(part.n, 40u);
  EXPECT_EQ(part.verdict, Verdict::kTooClose);
  EXPECT_TRUE(part.value_low.value.has_value());
  EXPECT_EQ(part.value_high, kOpen) << "40 calls of five lanes do not bound a P90 from above";
  EXPECT_THAT(part.reason, HasSubstr("–open]"));
}

TEST(ValueInterval, FailedCallsMakeItsEndInfinite) {
  Rng rng(6);
  double fails = 0.1;
  const auto calls = [&](std::uint32_t, std::uint32_t) {
    return rng.Chance(fails) ? kInf : 2 + 2 * rng.Uniform();
  };
  PartVerdict part = JudgeOne(Measured(Ttft(4.5), {}, calls), Ttft(4.5));
  EXPECT_EQ(part.verdict, Verdict::kTooClose);
  EXPECT_TRUE(part.value_high.infinite);
  EXPECT_LT(LowOf(part), 4.01);
  EXPECT_THAT(part.reason, HasSubstr("–infinite]"));
  // Three in ten: not only the value, all of the interval is infinite. The limit lies over all
  // times.
  fails = 0.3;
  part = JudgeOne(Measured(Ttft(3), {}, calls), Ttft(3));
  EXPECT_EQ(part.verdict, Verdict::kFail);
  EXPECT_TRUE(part.value_infinite);
  EXPECT_TRUE(part.value_low.infinite);
  EXPECT_TRUE(part.value_high.infinite);
  // All: no threshold tells of any spread, and the first and the last call are infinite.
  fails = 1;
  part = JudgeOne(Measured(Ttft(3), {}, calls), Ttft(3));
  EXPECT_EQ(part.verdict, Verdict::kFail);
  EXPECT_TRUE(part.value_low.infinite);
  EXPECT_TRUE(part.value_high.infinite);
}

TEST(ValueInterval, OfSpeedsFailedCallsAreZero) {
  Rng rng(7);
  double fails = 0.1;
  const Limit limit{.metric = Metric::kInteractivity, .quantile = 0.9, .value = 8};
  const auto calls = [&](std::uint32_t, std::uint32_t) {
    return rng.Chance(fails) ? 0.0 : 10 + 20 * rng.Uniform();
  };
  PartVerdict part = JudgeOne(Measured(limit, {}, calls), limit);
  EXPECT_EQ(part.verdict, Verdict::kTooClose);
  EXPECT_EQ(part.value_low, (ShownPercentile{0.0}));
  EXPECT_GT(HighOf(part), 10);
  fails = 0;
  part = JudgeOne(Measured(limit, {}, calls), limit);
  EXPECT_EQ(part.verdict, Verdict::kPass);
  EXPECT_GE(LowOf(part), 10);
  EXPECT_LT(LowOf(part), 12);
  EXPECT_GT(HighOf(part), 12);
  EXPECT_LT(HighOf(part), 15);
  EXPECT_THAT(part.reason, HasSubstr("90% of 600 calls reach 1"));
}

TEST(ValueInterval, WithoutAValueThereIsNone) {
  // All answers in one chunk: no call has a speed.
  const Limit rate{.metric = Metric::kInteractivity, .quantile = 0.9, .value = 8};
  const PartVerdict none = JudgeOne(Measured(rate, {.calls = 0}, {}), rate);
  EXPECT_EQ(none.verdict, Verdict::kNoData);
  EXPECT_EQ(none.value_low, kOpen);
  EXPECT_EQ(none.value_high, kOpen);
  const Limit nan = Ttft(std::nan(""));
  const PartVerdict part =
      JudgeOne(Measured(nan, {}, [](std::uint32_t, std::uint32_t) { return 1.0; }), nan);
  EXPECT_EQ(part.verdict, Verdict::kNoData);
  EXPECT_EQ(part.value_low, kOpen);
}

TEST(ValueInterval, EmptyCellsCountForNothing) {
  Rng rng(8);
  const auto calls = [&](std::uint32_t, std::uint32_t) { return 2 + 2 * rng.Uniform(); };
  StepEvidence e = Measured(Ttft(3.5), {}, calls);
  const PartVerdict before = JudgeOne(e, Ttft(3.5));
  for (std::uint32_t lane = 50; lane < 60; ++lane) {
    e.cells.push_back({.lane = lane, .block = 3, .attempts = 1, .parts = {{}}});
  }
  const PartVerdict after = JudgeOne(e, Ttft(3.5));
  EXPECT_EQ(after.value_low, before.value_low);
  EXPECT_EQ(after.value_high, before.value_high);
  ASSERT_TRUE(before.value_low.value.has_value());
}

TEST(ValueInterval, CallsOfOneBlockThatWaitTogetherWidenIt) {
  const auto width = [](bool together) {
    Rng rng(9);
    std::vector<double> of_half(10);
    for (double& half : of_half) half = rng.Normal();
    const PartVerdict part =
        JudgeOne(Measured(Ttft(5), {.lanes = 20},
                          [&](std::uint32_t, std::uint32_t half) {
                            const double wait = together ? of_half[half] : rng.Normal();
                            return 3 * std::exp(0.5 * wait + 0.3 * rng.Normal());
                          }),
                 Ttft(5));
    return HighOf(part) - LowOf(part);
  };
  EXPECT_GT(width(true), 2 * width(false));
  // Lanes that take turns in being slow: less spread over time than each lane's own, a variance of
  // time under 0 (proportion_time_test.cc), which counts for nothing.
  const PartVerdict turns = JudgeOne(Measured(Ttft(5), {},
                                              [](std::uint32_t lane, std::uint32_t half) {
                                                return (lane + half) % 10 == 0 ? 6.0 : 3.0;
                                              }),
                                     Ttft(5));
  EXPECT_EQ(turns.verdict, Verdict::kTooClose);
  EXPECT_NEAR(LowOf(turns), 3, 0.02);
  EXPECT_NEAR(HighOf(turns), 6, 0.03);
}

TEST(ValueInterval, OldCellsWithoutTheLadderUseTheLimitAlone) {
  Rng rng(10);
  const auto calls = [&](std::uint32_t, std::uint32_t) { return 2 + 2 * rng.Uniform(); };
  StepEvidence e = Measured(Ttft(3.6), {}, calls);
  for (CellCounts& cell : e.cells) cell.parts[0].hits_at = {};
  EXPECT_TRUE(JudgeOne(e, Ttft(3.6)).value_high.value.has_value());
  e = Measured(Ttft(30), {}, calls);
  for (CellCounts& cell : e.cells) cell.parts[0].hits_at = {};
  const PartVerdict far = JudgeOne(e, Ttft(30));
  EXPECT_EQ(far.verdict, Verdict::kPass);
  EXPECT_NEAR(LowOf(far), 2, 0.05) << "from the first call";
  EXPECT_NEAR(HighOf(far), 4, 0.05) << "to the last";
}

TEST(ValueInterval, IsAt95WhateverTailTheVerdictLeavesOut) {
  Rng rng(12);
  const auto calls = [&](std::uint32_t, std::uint32_t) { return 2 + 2 * rng.Uniform(); };
  const StepEvidence e = Measured(Ttft(2.2), {}, calls);
  const Bar bar{.limits = {Ttft(2.2)}};
  const PartVerdict usual = JudgePart(bar.limits[0], 0, e, 1);
  const PartVerdict strict = JudgePart(bar.limits[0], 0, e, 1, {.tail = 0.0001});
  EXPECT_LT(strict.share_low, usual.share_low);
  EXPECT_EQ(strict.value_low, usual.value_low);
  EXPECT_EQ(strict.value_high, usual.value_high);
}

TEST(ValueInterval, OfErrorsIsThatOfTheirShare) {
  StepEvidence e = testing::Healthy();
  for (CellCounts& cell : e.cells) cell.failed = cell.lane % 3 == 0 ? 1 : 0;
  const PartVerdict part = JudgeOne(e, {.metric = Metric::kErrors, .value = 0.02});
  EXPECT_EQ(part.value_low.value, part.share_low);
  EXPECT_EQ(part.value_high.value, part.share_high);
}

TEST(ValueInterval, ATiersIsOfItsCallsAlone) {
  Rng rng(13);
  Limit limit = Ttft(3.6);
  StepEvidence e = Measured(limit, {.lanes = 20}, [&](std::uint32_t lane, std::uint32_t) {
    return (lane % 2 == 0 ? 2 : 20) + rng.Uniform();
  });
  limit.tier = "heavy";
  e.tiers.resize(2);
  for (CellCounts& cell : e.cells) {
    cell.tier = static_cast<std::uint8_t>(cell.lane % 2);
    for (std::uint32_t i = 0; i < 6; ++i) {
      e.tiers[cell.tier].ttft_ns.Record((cell.tier == 0 ? 2'000 : 20'000) * 1'000'000LL +
                                        (cell.lane * 60 + cell.block * 12 + i) % 100 * 10'000'000);
    }
  }
  const PartVerdict part = JudgeOne(e, limit);
  EXPECT_EQ(part.verdict, Verdict::kPass);
  EXPECT_LT(HighOf(part), 3.61);
}

}  // namespace
}  // namespace plimsoll
