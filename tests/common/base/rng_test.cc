#include "common/base/rng.h"

#include <cmath>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(Rng, SameSeedSameDraws) {
  Rng a(7);
  Rng b(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.Next(), b.Next());
  EXPECT_NE(Rng(7).Next(), Rng(8).Next());
}

TEST(Rng, ForkIsIndependentOfDrawsMadeFromTheFork) {
  const Rng root(7);
  Rng a = root.Fork("a");
  for (int i = 0; i < 10; ++i) a.Next();
  Rng b_after = root.Fork("b");
  Rng b_alone = Rng(7).Fork("b");
  EXPECT_EQ(b_after.Next(), b_alone.Next());
}

TEST(Rng, BelowStaysInsideItsBoundAndReachesBothEnds) {
  Rng rng(3);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t x = rng.Below(7);
    ASSERT_LT(x, 7u);
    low |= x == 0;
    high |= x == 6;
  }
  EXPECT_TRUE(low && high);
}

TEST(Rng, DistributionsHaveTheirMoments) {
  Rng rng(11);
  constexpr int kDraws = 200'000;
  double sum = 0;
  double squares = 0;
  double exponential = 0;
  int lognormal_below_one = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = rng.Normal();
    sum += x;
    squares += x * x;
    exponential += rng.Exponential();
    lognormal_below_one += rng.Lognormal(0.5) < 1 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
  EXPECT_NEAR(exponential / kDraws, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(lognormal_below_one) / kDraws, 0.5, 0.005);
}

TEST(NormalQuantile, MatchesTabulatedValues) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 1e-8);
  EXPECT_NEAR(NormalQuantile(0.5), 0, 1e-9);
  EXPECT_NEAR(NormalQuantile(0.001), -3.090232306167813, 1e-8);
}

}  // namespace
}  // namespace plimsoll
