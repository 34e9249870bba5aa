// Verdicts on evals: they block only on a confident fail, of the threshold or of the drop; how
// often they block wrongly is measured by enumeration, and with blocks that go wrong together.
#include "coordinator/evals/eval_verdict.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

EvalCounts Counts(std::uint64_t passed, std::uint64_t failed, std::uint64_t unanswered = 0) {
  EvalCounts counts;
  counts.by_outcome[static_cast<std::size_t>(EvalOutcome::kPass)] = passed;
  counts.by_outcome[static_cast<std::size_t>(EvalOutcome::kWrong)] = failed;
  counts.by_outcome[static_cast<std::size_t>(EvalOutcome::kUnanswered)] = unanswered;
  return counts;
}
EvalVerdict JudgeAll(const EvalBar& bar, const EvalCounts& loaded, const EvalCounts& unloaded) {
  return JudgeEvals(bar, {loaded}, unloaded);
}

TEST(EvalVerdict, AgainstTheThreshold) {
  const EvalBar bar{.pass_rate = 0.9};
  const auto fail = JudgeAll(bar, Counts(60, 40), {});
  EXPECT_EQ(fail.verdict, Verdict::kFail);
  EXPECT_TRUE(fail.blocks());
  EXPECT_THAT(fail.reason, HasSubstr("60 of 100 passed, 95% interval 49.7% to 69.7%: below 90.0%"));
  EXPECT_EQ(JudgeAll(bar, Counts(100, 0), {}).verdict, Verdict::kPass);
  const auto close = JudgeAll(bar, Counts(86, 14), {});
  EXPECT_EQ(close.verdict, Verdict::kTooClose);
  EXPECT_EQ(close.lean, Lean::kFail);
  EXPECT_FALSE(close.blocks());
  EXPECT_EQ(JudgeAll(bar, Counts(92, 8), {}).lean, Lean::kPass);
}

TEST(EvalVerdict, AgainstTheUnloadedRate) {
  const EvalBar bar{.drop = 0.03};
  const auto fail = JudgeAll(bar, Counts(75, 25), Counts(140, 4));
  EXPECT_EQ(fail.verdict, Verdict::kFail);
  EXPECT_LE(fail.drop_p_value, 0.025);
  ASSERT_TRUE(fail.change);
  EXPECT_LT(fail.change->high, -0.03);
  EXPECT_THAT(fail.reason, HasSubstr("a change of -22.2 points"));
  EXPECT_THAT(fail.reason, HasSubstr("a drop of more than 3.0 points"));
  const auto close = JudgeAll(bar, Counts(92, 8), Counts(140, 4));
  EXPECT_EQ(close.verdict, Verdict::kTooClose);
  EXPECT_EQ(close.lean, Lean::kFail);
  EXPECT_EQ(JudgeAll({.drop = 0.1}, Counts(200, 0), Counts(144, 0)).verdict, Verdict::kPass);
  const auto alone = JudgeAll(bar, Counts(50, 50), {});
  EXPECT_EQ(alone.verdict, Verdict::kTooClose);
  EXPECT_EQ(alone.change, std::nullopt);
}

TEST(EvalVerdict, AModelThatIsWeakUnloadedDoesNotBlockByTheDrop) {
  const auto weak = JudgeAll({.drop = 0.02}, Counts(50, 50), Counts(72, 72));
  EXPECT_FALSE(weak.blocks());
  EXPECT_TRUE(JudgeAll({.pass_rate = 0.9}, Counts(50, 50), Counts(72, 72)).blocks());
}

TEST(EvalVerdict, TheWorseOfTheTwoDecides) {
  const EvalBar both{.pass_rate = 0.5, .drop = 0.03};
  const auto dropped = JudgeAll(both, Counts(80, 20), Counts(143, 1));
  EXPECT_EQ(dropped.verdict, Verdict::kFail);
  EXPECT_THAT(dropped.reason, HasSubstr("drop"));
  EXPECT_EQ(JudgeAll(both, Counts(80, 20), {}).verdict, Verdict::kTooClose);
}

TEST(EvalVerdict, NothingJudgedIsNoData) {
  EXPECT_EQ(JudgeEvals({.pass_rate = 0.9}, {}, {}).verdict, Verdict::kNoData);
  EXPECT_EQ(JudgeEvals({.pass_rate = 0.9}, {}, {}).reason, "no eval was asked");
  const auto refused = JudgeAll({.pass_rate = 0.9}, Counts(0, 0, 12), {});
  EXPECT_EQ(refused.verdict, Verdict::kNoData);
  EXPECT_EQ(refused.reason, "none of 12 evals was answered");
  EXPECT_EQ(JudgeAll({}, Counts(1, 1), {}).verdict, Verdict::kNoData);
  const auto one = JudgeAll({.pass_rate = 0.9}, Counts(0, 1), {});
  EXPECT_EQ(one.verdict, Verdict::kTooClose) << "one wrong answer is no confident fail";
}

double Choose(int n, int k) {
  return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0));
}

// Cases are of two kinds, as hard as p and q: the counts vary less than binomial ones, and the
// verdict blocks wrongly at most as often. Both exactly at the threshold.
TEST(EvalVerdict, BlocksWronglyAtMostAsOftenAsStatedByEnumeration) {
  constexpr int kHalf = 30;
  for (const double hard : {0.9, 0.85, 0.8}) {
    const double easy = 1.8 - hard;
    double wrongly = 0;
    for (int a = 0; a <= kHalf; ++a) {
      for (int b = 0; b <= kHalf; ++b) {
        const auto passed = static_cast<std::uint64_t>(a + b);
        if (!JudgeAll({.pass_rate = 0.9}, Counts(passed, 2 * kHalf - passed), {}).blocks())
          continue;
        wrongly += Choose(kHalf, a) * std::pow(hard, a) * std::pow(1 - hard, kHalf - a) *
                   Choose(kHalf, b) * std::pow(easy, b) *
                   (easy < 1     ? std::pow(1 - easy, kHalf - b)
                    : b == kHalf ? 1.0
                                 : 0.0);
      }
    }
    EXPECT_LE(wrongly, 0.025 + 1e-9) << hard;
    RecordProperty("wrongly_" + std::to_string(std::lround(100 * hard)), std::to_string(wrongly));
  }
}

TEST(EvalDesignEffect, SeesBlocksThatGoWrongTogether) {
  const std::vector<EvalCounts> even(10, Counts(9, 1));
  EXPECT_EQ(EvalDesignEffect(even), 1);
  std::vector<EvalCounts> burst(10, Counts(10, 0));
  burst[4] = Counts(0, 10);
  EXPECT_GT(EvalDesignEffect(burst), 5);
  EXPECT_EQ(EvalDesignEffect({Counts(9, 1), Counts(0, 10)}), 1) << "too few blocks to tell";
  EXPECT_EQ(EvalDesignEffect({}), 1);
  // Ten wrong in a hundred are a confident fail of 97% when they come singly, not in one minute.
  EXPECT_TRUE(JudgeEvals({.pass_rate = 0.97}, even, {}).blocks());
  EXPECT_FALSE(JudgeEvals({.pass_rate = 0.97}, burst, {}).blocks());
}

// Blocks share a quality that moves between them: without the design effect the verdict would block
// wrongly far more often than stated.
TEST(EvalDesignEffect, KeepsWrongBlocksRareWhenBlocksDiffer) {
  constexpr int kRuns = 4000;
  constexpr std::uint64_t kSeed = 20'261;
  Rng rng(kSeed);
  int with = 0;
  int without = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<EvalCounts> blocks(10);
    EvalCounts all;
    for (EvalCounts& block : blocks) {
      // 0.9 on average: most minutes at 0.95, one in five at 0.7.
      const double quality = rng.Chance(0.2) ? 0.7 : 0.95;
      for (int i = 0; i < 12; ++i) {
        block.Add(rng.Chance(quality) ? EvalOutcome::kPass : EvalOutcome::kWrong);
      }
      all.Add(block);
    }
    with += JudgeEvals({.pass_rate = 0.9}, blocks, {}).blocks() ? 1 : 0;
    without += JudgeAll({.pass_rate = 0.9}, all, {}).blocks() ? 1 : 0;
  }
  RecordProperty("wrong_blocks_with", with);
  RecordProperty("wrong_blocks_without", without);
  EXPECT_LE(with, kRuns * 0.03) << "seed " << kSeed << ", without: " << without;
  EXPECT_LT(with, without) << "seed " << kSeed;
}

TEST(MostThatFails, IsTheLastConfidentFail) {
  for (const std::uint64_t n : {5u, 40u, 100u, 1000u}) {
    const auto most = MostThatFails(n, 0.95);
    ASSERT_TRUE(most);
    EXPECT_TRUE(JudgeAll({.pass_rate = 0.95}, Counts(*most, n - *most), {}).blocks()) << n;
    EXPECT_FALSE(JudgeAll({.pass_rate = 0.95}, Counts(*most + 1, n - *most - 1), {}).blocks()) << n;
  }
  // As docs/evals.md prints them.
  EXPECT_EQ(MostThatFails(20, 0.9), 14u);
  EXPECT_EQ(MostThatFails(40, 0.95), 34u);
  EXPECT_EQ(MostThatFails(400, 0.98), 385u);
  EXPECT_EQ(MostThatFails(1, 0.9), std::nullopt);
  EXPECT_EQ(MostThatFails(0, 0.9), std::nullopt);
}

}  // namespace
}  // namespace plimsoll
