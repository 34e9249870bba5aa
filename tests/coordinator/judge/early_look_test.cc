// Looks at a running step: how the error is spent, what fails early, and what never does.
#include "coordinator/judge/early_look.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/judge/judge_part.h"

namespace plimsoll {
namespace {

TEST(EarlyLook, SpendsItsErrorOnPlannedLooksAndMoreOnLaterOnes) {
  for (const std::uint32_t blocks : {3u, 5u, 10u, 60u}) {
    double sum = 0;
    double last = 0;
    for (std::uint32_t done = 0; done <= blocks + 1; ++done) {
      const double spent = ErrorSpentAt(done, blocks);
      EXPECT_EQ(spent > 0, done >= 2 && done < blocks) << done << " of " << blocks;
      if (spent > 0) {
        EXPECT_GT(spent, last);
        last = spent;
      }
      sum += spent;
    }
    EXPECT_NEAR(sum, kEarlyError, 1e-9) << blocks;
  }
  EXPECT_EQ(ErrorSpentAt(2, 2), 0) << "two blocks have no look between them";
}

constexpr std::uint32_t kLanes = 40;

// `done` blocks of five, of each cell's 10 calls `within` at or under the limit of 1 s.
StepEvidence SoFar(std::uint32_t done, std::uint32_t within) {
  StepEvidence e;
  e.plan = {.sessions = kLanes, .measure = 300s, .block = 60s};
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    for (std::uint32_t block = 0; block < done; ++block) {
      CellCounts cell{.lane = lane, .block = block};
      cell.attempts = 10;
      cell.ttft_n = 10;
      // Lanes differ a little, so that the interval is that of a real step.
      const std::uint32_t hits = std::min(10u, (lane + block) % 2 == 0 ? within + 1 : within - 1);
      // By the bar's limits: TTFT, errors.
      cell.parts = {{.n = 10, .hits = hits, .hits_strict = hits, .hits_loose = hits}, {}};
      e.cells.push_back(cell);
      for (std::uint32_t i = 0; i < 10; ++i) {
        e.ttft_ns.Record(i < hits ? 500'000'000 : 2'000'000'000);
      }
    }
  }
  return e;
}

Bar LatencyBar() {
  return {.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 1},
                     {.metric = Metric::kErrors, .value = 0.02}}};
}

TEST(EarlyLook, AClearMissFailsAtTheSecondBlockAndSaysSo) {
  EXPECT_FALSE(LookEarly(SoFar(1, 5), LatencyBar(), 1, 0).has_value()) << "no look is planned";
  const auto finding = LookEarly(SoFar(2, 5), LatencyBar(), 2, 0);
  ASSERT_TRUE(finding.has_value());
  ASSERT_EQ(finding->failed.size(), 1u);
  EXPECT_EQ(finding->failed[0].limit.metric, Metric::kTtft);
  EXPECT_THAT(finding->failed[0].reason, testing::StartsWith("after 2 of 5 blocks, P90 of 800"));
  EXPECT_FALSE(LookEarly(SoFar(5, 5), LatencyBar(), 5, 0).has_value()) << "the step is over";
}

TEST(EarlyLook, NothingIsDecidedInTheOpeningWavesMinute) {
  StepEvidence quick = SoFar(4, 5);
  quick.plan.measure = 75s;
  quick.plan.block = 15s;
  EXPECT_TRUE(LookEarly(quick, LatencyBar(), 4, 0).has_value());
  quick.plan.measure = 70s;
  quick.plan.block = 14s;
  EXPECT_FALSE(LookEarly(quick, LatencyBar(), 4, 0).has_value());
}

TEST(EarlyLook, WhatHoldsOrIsCloseGoesOn) {
  for (const std::uint32_t within : {10u, 9u}) {
    for (std::uint32_t done = 2; done < 5; ++done) {
      EXPECT_FALSE(LookEarly(SoFar(done, within), LatencyBar(), done, 0).has_value())
          << within << " after " << done;
    }
  }
}

TEST(EarlyLook, AFailAt95PercentIsNotEnoughForTheFirstLook) {
  // Six lanes: what is confident at 95% is not at the look's 0.3%, nor to be confident of there.
  StepEvidence few = SoFar(2, 9);
  std::erase_if(few.cells, [](const CellCounts& c) { return c.lane >= 6; });
  for (CellCounts& cell : few.cells) cell.parts[0].hits -= cell.lane % 3;
  EXPECT_EQ(JudgePart(LatencyBar().limits[0], 0, few, 1).verdict, Verdict::kFail);
  EXPECT_FALSE(LookEarly(few, LatencyBar(), 2, 0).has_value());
}

TEST(EarlyLook, CallsInFlightCountAsNotFailed) {
  StepEvidence refused = SoFar(2, 10);
  for (CellCounts& cell : refused.cells) cell.failed = 1;  // 10% of the attempts.
  auto finding = LookEarly(refused, LatencyBar(), 2, 0);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->failed[0].limit.metric, Metric::kErrors);
  EXPECT_FALSE(LookEarly(refused, LatencyBar(), 2, 4000).has_value());
}

TEST(EarlyLook, LatenciesOfALoadThatMayBeLighterAreNotLookedAt) {
  StepEvidence slow = SoFar(2, 5);
  for (CellCounts& cell : slow.cells) cell.failed = cell.lane == 0 ? 5 : 0;  // Over 1%.
  EXPECT_FALSE(LookEarly(slow, LatencyBar(), 2, 0).has_value());
}

TEST(EarlyLook, ALimitOnATierThatTheLadderLeavesOutIsNotLookedAt) {
  StepEvidence slow = SoFar(2, 5);
  slow.tier_names = {"heavy"};
  Bar bar = LatencyBar();
  bar.limits[0].tier = "heavy";
  EXPECT_TRUE(LookEarly(slow, bar, 2, 0).has_value());
  slow.tiers_left_out = {"heavy"};
  EXPECT_FALSE(LookEarly(slow, bar, 2, 0).has_value());
}

StepVerdict Judged(Verdict ttft, double sent_share, bool is_void = false) {
  StepVerdict v{.verdict = ttft, .is_void = is_void, .sent_share = sent_share};
  v.parts = {{.limit = LatencyBar().limits[0], .verdict = ttft, .reason = "whole"},
             {.limit = LatencyBar().limits[1], .verdict = Verdict::kPass, .reason = "none"}};
  return v;
}

TEST(FailedEarly, KeepsTheLooksVerdictUnlessTheStepSaysNothing) {
  const EarlyFinding finding = *LookEarly(SoFar(2, 5), LatencyBar(), 2, 0);
  const StepVerdict failed = FailedEarly(Judged(Verdict::kTooClose, 1), finding);
  EXPECT_EQ(failed.verdict, Verdict::kFail);
  ASSERT_EQ(failed.reasons.size(), 1u);
  EXPECT_THAT(failed.reasons[0], testing::StartsWith("TTFT: after 2 of 5 blocks"));
  // Of censored calls nothing passes.
  EXPECT_EQ(failed.parts[1].verdict, Verdict::kNoData);
  EXPECT_THAT(failed.parts[1].reason,
              testing::StartsWith("the step was ended early, after 2 of 5"));

  const StepVerdict is_void = FailedEarly(Judged(Verdict::kNoData, 1, true), finding);
  EXPECT_TRUE(is_void.is_void);
  EXPECT_EQ(is_void.verdict, Verdict::kNoData);

  const StepVerdict lighter = FailedEarly(Judged(Verdict::kNoData, 0.9), finding);
  EXPECT_EQ(lighter.verdict, Verdict::kNoData);
  EXPECT_THAT(lighter.reasons.at(0), testing::HasSubstr("nothing of it fails"));
}

}  // namespace
}  // namespace plimsoll
