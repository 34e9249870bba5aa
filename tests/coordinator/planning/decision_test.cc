// The stated chances of a decision against a small Monte Carlo of the very assumptions.
#include "coordinator/planning/decision.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/rng.h"
#include "common/stats/student_t.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

// One call's time against a typical one's, parts and cold starts as the design has them.
double Time(Rng& rng, bool cold_starts) {
  double log_time = 0;
  for (const double sigma : {kSigmaCall, kSigmaSession, kSigmaDrift})
    log_time += sigma * rng.Normal();
  const bool cold = rng.Chance(kColdShare);
  return std::exp(log_time) * (cold && cold_starts ? kColdFactor : 1);
}

// The 90th percentile of Time, from many draws.
double P90(Rng& rng, bool cold_starts) {
  std::vector<double> all(200'000);
  for (double& time : all) time = Time(rng, cold_starts);
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 10 * 9);
  std::nth_element(all.begin(), at, all.end());
  return *at;
}

double HalfWidth(double p, int lanes, std::uint64_t calls) {
  return StudentTQuantile(0.975, lanes - 1.0) *
         std::sqrt(kDesignEffectAssumed * p * (1 - p) / static_cast<double>(calls));
}

const Limit kTtft{.metric = Metric::kTtft, .quantile = 0.9, .value = 5};
const Limit kSpeed{.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10};
const Limit kErrors{.metric = Metric::kErrors, .value = 0.1};

TEST(Decision, SharesAreThoseOfTheAssumedTimes) {
  Rng rng(7);
  const double p90 = P90(rng, true);
  const double warm = P90(rng, false);
  int better = 0;
  int worse = 0;
  int faster = 0;
  const int n = 200'000;
  for (int i = 0; i < n; ++i) {
    const double time = Time(rng, true);
    if (0.8 * time <= p90) ++better;
    if (1.2 * time <= p90) ++worse;
    if (1.2 / Time(rng, false) >= 1 / warm) ++faster;
  }
  EXPECT_NEAR(ShareWithin(kTtft, 0.2), better / double{n}, 0.004);
  EXPECT_NEAR(ShareWithin(kTtft, -0.2), worse / double{n}, 0.004);
  EXPECT_NEAR(ShareWithin(kSpeed, 0.2), faster / double{n}, 0.004);
  EXPECT_NEAR(ShareWithin(kTtft, 0), 0.9, 1e-9) << "at the bar it is the bar's own";
  EXPECT_DOUBLE_EQ(ShareWithin(kErrors, 0.2), 0.08);
  EXPECT_DOUBLE_EQ(ShareWithin(kErrors, -0.2), 0.12);
}

struct Case {
  int lanes;
  std::uint64_t calls;
};

// Calls come in pairs that are alike: a design effect of exactly 2.
TEST(Decision, ChancesAreThoseOfAMonteCarlo) {
  for (const auto& [lanes, calls] : {Case{5, 200}, {15, 600}, {15, 2000}, {40, 6000}}) {
    const std::uint64_t seed = 100 + calls;
    SCOPED_TRACE(testing::Message() << calls << " calls, " << lanes << " lanes, seed " << seed);
    Rng rng(seed);
    const double p90 = P90(rng, true);
    const double half = HalfWidth(0.9, lanes, calls);
    constexpr int kSteps = 600;
    int passes = 0;
    int fails = 0;
    for (int step = 0; step < kSteps; ++step) {
      int better = 0;
      int worse = 0;
      for (std::uint64_t pair = 0; pair < calls / 2; ++pair) {
        const double time = Time(rng, true);
        if (0.8 * time <= p90) ++better;
        if (1.2 * time <= p90) ++worse;
      }
      if (2.0 * better / static_cast<double>(calls) > 0.9 + half) ++passes;
      if (2.0 * worse / static_cast<double>(calls) < 0.9 - half) ++fails;
    }
    const Chances chances = ChancesOfDecision(kTtft, calls, {0.9 - half, 0.9 + half});
    EXPECT_NEAR(chances.better_passes, passes / double{kSteps}, 0.06);
    EXPECT_NEAR(chances.worse_fails, fails / double{kSteps}, 0.06);
  }
}

TEST(Decision, ErrorsAreBinomialAtTheDesignEffect) {
  constexpr std::uint64_t kCalls = 4000;
  const double half = HalfWidth(0.1, 15, kCalls);
  Rng rng(11);
  constexpr int kSteps = 600;
  int passes = 0;
  int fails = 0;
  for (int step = 0; step < kSteps; ++step) {
    int better = 0;
    int worse = 0;
    for (std::uint64_t pair = 0; pair < kCalls / 2; ++pair) {
      better += rng.Chance(0.08);
      worse += rng.Chance(0.12);
    }
    if (2.0 * better / kCalls < 0.1 - half) ++passes;
    if (2.0 * worse / kCalls > 0.1 + half) ++fails;
  }
  const Chances chances = ChancesOfDecision(kErrors, kCalls, {0.1 - half, 0.1 + half});
  EXPECT_NEAR(chances.better_passes, passes / double{kSteps}, 0.06);
  EXPECT_NEAR(chances.worse_fails, fails / double{kSteps}, 0.06);
}

TEST(Decision, ALimitWithAnIntervalPassesAtItsStricterEdgeAndFailsAtItsLooserOne) {
  Rng rng(13);
  const double p90 = P90(rng, true);
  const double warm = P90(rng, false);
  int strict = 0;
  int loose = 0;
  int strict_speed = 0;
  const int n = 200'000;
  for (int i = 0; i < n; ++i) {
    const double time = Time(rng, true);
    if (0.8 * time <= 0.9 * p90) ++strict;
    if (1.2 * time <= 1.15 * p90) ++loose;
    if (1.2 / Time(rng, false) >= 1.1 / warm) ++strict_speed;
  }
  EXPECT_NEAR(ShareWithin(kTtft, 0.2, 0.9 * 5), strict / double{n}, 0.004);
  EXPECT_NEAR(ShareWithin(kTtft, -0.2, 1.15 * 5), loose / double{n}, 0.004);
  EXPECT_NEAR(ShareWithin(kSpeed, 0.2, 1.1 * 10), strict_speed / double{n}, 0.004);

  const Interval close = {0.86, 0.93};
  const Chances exact = ChancesOfDecision(kTtft, 2000, close);
  Limit wide = kTtft;
  wide.origin = LimitOrigin{.runs = {"a", "b"}, .baseline = 5, .low = 4.5, .high = 5.75};
  const Chances doubtful = ChancesOfDecision(wide, 2000, close);
  EXPECT_LT(doubtful.better_passes, exact.better_passes - 0.05);
  EXPECT_LT(doubtful.worse_fails, exact.worse_fails - 0.05);
  wide.origin->low = wide.origin->high = 5;
  EXPECT_DOUBLE_EQ(ChancesOfDecision(wide, 2000, close).better_passes, exact.better_passes);
  wide.origin->low.reset();
  wide.origin->high.reset();
  EXPECT_DOUBLE_EQ(ChancesOfDecision(wide, 2000, close).worse_fails, exact.worse_fails);
}

TEST(Decision, AWholeAnswerAndItsSpeedSpreadAsATimeDoes) {
  const Limit answer{.metric = Metric::kGoodput, .quantile = 0.9, .value = 20};
  const Limit speed{.metric = Metric::kEndToEndInteractivity, .quantile = 0.9, .value = 10};
  EXPECT_DOUBLE_EQ(ShareWithin(answer, 0.2), ShareWithin(kTtft, 0.2));
  EXPECT_GT(ShareWithin(speed, 0.2), 0.9);
  EXPECT_LT(ShareWithin(speed, -0.2), 0.9);
}

TEST(Decision, MoreCallsDecideMoreOften) {
  double before = -1;
  for (const std::uint64_t calls : {50u, 200u, 800u, 3200u, 12800u}) {
    const double half = HalfWidth(0.9, 15, calls);
    const Chances chances =
        ChancesOfDecision(kTtft, calls, {0.9 - half, std::min(1.0, 0.9 + half)});
    EXPECT_GT(chances.worse_fails, before);
    before = chances.worse_fails;
  }
  EXPECT_GT(before, 0.99);
}

TEST(Decision, AnIntervalThatReachesBeyondAllDecidesNothing) {
  EXPECT_EQ(ChancesOfDecision(kTtft, 40, {0.78, 1}).better_passes, 0);
  EXPECT_EQ(ChancesOfDecision(kErrors, 40, {0, 0.22}).better_passes, 0);
  const Limit none{.metric = Metric::kErrors, .value = 0};
  const Chances chances = ChancesOfDecision(none, 400, {0, 0});
  EXPECT_EQ(chances.better_passes, 0) << "0% can never pass";
  EXPECT_EQ(chances.worse_fails, 0) << "20% more than nothing is nothing";
}

}  // namespace
}  // namespace plimsoll
