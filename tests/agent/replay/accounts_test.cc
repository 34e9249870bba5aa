// The replay's arithmetic: lane-time by state, requests in flight, back-off, a step's window.
#include <numeric>

#include "agent/replay/back_off.h"
#include "agent/replay/in_flight_meter.h"
#include "agent/replay/lane_account.h"
#include "agent/replay/step_window.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr MonoTime At(std::int64_t s) {
  return MonoTime(std::chrono::seconds(s));
}

TEST(LaneAccount, PartitionsExactlyTheWindow) {
  LaneAccount account;
  account.SetWindow(At(10), At(70));
  account.Enter(LaneState::kInFlight, At(0));
  account.Enter(LaneState::kRefused, At(20));
  account.Enter(LaneState::kPlannedDelay, At(15));  // Before the last change: counts as it.
  account.Enter(LaneState::kInFlight, At(50));
  account.Settle(At(100));
  const auto seconds = [&](LaneState s) {
    return account.spent()[static_cast<std::size_t>(s)] / 1'000'000'000;
  };
  EXPECT_EQ(seconds(LaneState::kInFlight), 10 + 20);
  EXPECT_EQ(seconds(LaneState::kRefused), 0);
  EXPECT_EQ(seconds(LaneState::kPlannedDelay), 30);
  EXPECT_EQ(std::accumulate(account.spent().begin(), account.spent().end(), std::int64_t{0}),
            Duration(60s).count());
}

TEST(LaneAccount, ANewWindowCountsFromZeroInTheStateThatLasts) {
  LaneAccount account;
  account.SetWindow(At(0), At(10));
  account.Enter(LaneState::kDeadMan, At(0));
  account.Settle(At(12));
  account.SetWindow(At(20), At(30));
  account.Settle(At(30));
  EXPECT_EQ(account.state(), LaneState::kDeadMan);
  EXPECT_EQ(account.spent()[static_cast<std::size_t>(LaneState::kDeadMan)], Duration(10s).count());
}

TEST(LaneAccount, WithoutAWindowNothingCounts) {
  LaneAccount account;
  account.Enter(LaneState::kInFlight, At(5));
  account.Settle(At(50));
  for (const std::int64_t ns : account.spent()) EXPECT_EQ(ns, 0);
}

TEST(InFlightMeter, IntegratesOnlyTheWindow) {
  InFlightMeter meter;
  meter.Set(At(0), 2);
  meter.SetWindow(At(10), At(20));
  meter.Set(At(12), 3);   // 2 × 2 s
  meter.Set(At(15), 0);   // 3 × 3 s
  meter.Set(At(18), 1);   // 0
  meter.Set(At(25), 50);  // 1 × 2 s
  meter.Settle(At(40));
  EXPECT_EQ(meter.request_ns(), Duration(15s).count());
  EXPECT_EQ(meter.count(), 50u);
  // A call that lasts over a window's opening counts in it from its beginning.
  meter.SetWindow(At(50), At(60));
  meter.Settle(At(60));
  EXPECT_EQ(meter.request_ns(), 50 * Duration(10s).count());
}

TEST(BackOff, DoublesToItsMostAndStretchesByAQuarterAtMost) {
  const FailurePolicy policy;
  for (const std::uint32_t n : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 12u, 64u, 4'000'000'000u}) {
    const Duration base = n > 5 ? Duration(30s) : Duration(1s) * (1 << (n == 0 ? 0 : n - 1));
    Duration least = Duration::max();
    Duration most{0};
    for (std::uint64_t key = 0; key < 200; ++key) {
      const Duration wait = BackOff(policy, n, Duration(-1), key);
      EXPECT_EQ(wait, BackOff(policy, n, Duration(-1), key)) << "seeded";
      least = std::min(least, wait);
      most = std::max(most, wait);
    }
    EXPECT_GE(least, base) << n;
    EXPECT_LE(most, base * 5 / 4) << n;
    EXPECT_GT(most - least, base / 8) << "lanes must not return together";
  }
}

TEST(BackOff, RetryAfterCountsButNeverLessThanTheLeast) {
  const FailurePolicy policy;
  EXPECT_EQ(BackOff(policy, 9, 5s, 1), Duration(5s));
  EXPECT_EQ(BackOff(policy, 1, 0s, 1), Duration(1s));
  EXPECT_EQ(BackOff(policy, 1, 10min, 1), Duration(10min));
}

TEST(BackOff, ARetryAfterThatIsTooLongOrNotHonouredLeavesTheBackOff) {
  FailurePolicy policy;
  policy.retry_after_max = 30s;
  EXPECT_EQ(BackOff(policy, 1, 30s, 1), Duration(30s));
  EXPECT_EQ(BackOff(policy, 1, 30s + 1ns, 1), BackOff(policy, 1, Duration(-1), 1));
  policy.honour_retry_after = false;
  EXPECT_EQ(BackOff(policy, 2, 5s, 1), BackOff(policy, 2, Duration(-1), 1));
}

TEST(BackOff, ByDefaultOverflowCutAndOkAreNotTriedAgainAndEveryFailureEndsThePlay) {
  const FailurePolicy policy;
  for (std::size_t o = 1; o < kOutcomes; ++o) {
    const auto outcome = static_cast<Outcome>(o);
    const bool never =
        outcome == Outcome::kOk || outcome == Outcome::kContextOverflow || outcome == Outcome::kCut;
    EXPECT_EQ(policy.retry.Contains(outcome), !never) << Name(outcome);
    EXPECT_EQ(EndsPlay(policy, outcome), outcome != Outcome::kOk) << Name(outcome);
    EXPECT_EQ(OutcomeNamed(Name(outcome)), outcome);
  }
  FailurePolicy gentle;
  gentle.end_play = {};
  EXPECT_TRUE(EndsPlay(gentle, Outcome::kCut)) << "what we cut has ended";
  EXPECT_FALSE(EndsPlay(gentle, Outcome::kContextOverflow));
  EXPECT_FALSE(OutcomeNamed("unknown").has_value());
}

TEST(StepWindow, BlocksAreHalfOpenFromTheWarmUpsEnd) {
  const StepWindow window({.warm_up = 10s, .measure = 60s, .block = 20s}, At(100));
  struct {
    MonoTime at;
    std::uint32_t block;
  } const cases[] = {{At(0), kWarmUpBlock},
                     {At(110) - 1ns, kWarmUpBlock},
                     {At(110), 0},
                     {At(130) - 1ns, 0},
                     {At(130), 1},
                     {At(170) - 1ns, 2},
                     {At(170), kCoolDownBlock},
                     {At(999), kCoolDownBlock}};
  for (const auto& c : cases) {
    EXPECT_EQ(window.BlockOf(c.at), c.block);
    EXPECT_EQ(window.Measures(c.at), c.block < 3);
  }
  EXPECT_EQ(window.Offset(At(99)), -Duration(1s).count());
}

}  // namespace
}  // namespace plimsoll
