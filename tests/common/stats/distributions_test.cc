// Student's t, the beta function and Clopper-Pearson against printed tables and identities.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "common/stats/beta.h"
#include "common/stats/clopper_pearson.h"
#include "common/stats/student_t.h"

namespace plimsoll {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(StudentT, MatchesThePrintedTable) {
  const struct {
    double degrees;
    double t;
  } rows[] = {{1, 12.706}, {2, 4.303}, {3, 3.182}, {7, 2.365}, {14, 2.145}, {30, 2.042}};
  for (const auto& row : rows) {
    EXPECT_NEAR(StudentTQuantile(0.975, row.degrees), row.t, 6e-4) << row.degrees;
    EXPECT_NEAR(StudentTQuantile(0.025, row.degrees), -row.t, 6e-4) << row.degrees;
  }
  EXPECT_NEAR(StudentTQuantile(0.975, 1e6), 1.95997, 1e-4);
  EXPECT_EQ(StudentTQuantile(0.5, 3), 0);
}

TEST(StudentT, SenselessArgumentsGiveNaN) {
  for (const double p : {0.0, 1.0, -1.0, 2.0, kNaN}) {
    EXPECT_TRUE(std::isnan(StudentTQuantile(p, 5))) << p;
  }
  EXPECT_TRUE(std::isnan(StudentTQuantile(0.975, 0)));
  EXPECT_TRUE(std::isnan(StudentTQuantile(0.975, kNaN)));
}

TEST(Beta, MatchesClosedForms) {
  for (const double x : {0.0, 0.1, 0.5, 0.93, 1.0}) {
    EXPECT_NEAR(RegularizedBeta(1, 1, x), x, 1e-14);
    EXPECT_NEAR(RegularizedBeta(5, 1, x), std::pow(x, 5), 1e-14);
    EXPECT_NEAR(RegularizedBeta(1, 7, x), 1 - std::pow(1 - x, 7), 1e-14);
  }
}

TEST(Beta, EqualsTheBinomialTail) {
  // P(Bin(20, 0.3) >= 6) = I_0.3(6, 15).
  double tail = 0;
  for (int k = 6; k <= 20; ++k) {
    tail += std::exp(std::lgamma(21) - std::lgamma(k + 1) - std::lgamma(21 - k)) *
            std::pow(0.3, k) * std::pow(0.7, 20 - k);
  }
  EXPECT_NEAR(RegularizedBeta(6, 15, 0.3), tail, 1e-12);
}

TEST(Beta, InverseInverts) {
  for (const double a : {0.3, 1.0, 4.5, 300.0}) {
    for (const double b : {0.7, 2.0, 50.0, 5000.0}) {
      for (const double p : {0.001, 0.025, 0.5, 0.975}) {
        EXPECT_NEAR(RegularizedBeta(a, b, RegularizedBetaInverse(a, b, p)), p, 1e-9);
      }
    }
  }
}

TEST(Beta, SenselessArgumentsGiveNaN) {
  EXPECT_TRUE(std::isnan(RegularizedBeta(0, 1, 0.5)));
  EXPECT_TRUE(std::isnan(RegularizedBeta(1, 1, 1.5)));
  EXPECT_TRUE(std::isnan(RegularizedBeta(kNaN, 1, 0.5)));
  EXPECT_TRUE(std::isnan(RegularizedBetaInverse(1, -1, 0.5)));
  EXPECT_TRUE(std::isnan(RegularizedBetaInverse(1, 1, kNaN)));
  EXPECT_TRUE(std::isnan(RegularizedBetaInverse(std::numeric_limits<double>::infinity(), 1, 0.5)));
}

TEST(ClopperPearson, MatchesPublishedIntervals) {
  EXPECT_NEAR(ClopperPearson(0, 10).high, 0.3085, 1e-4);
  EXPECT_EQ(ClopperPearson(0, 10).low, 0);
  EXPECT_NEAR(ClopperPearson(10, 10).low, 0.6915, 1e-4);
  EXPECT_EQ(ClopperPearson(10, 10).high, 1);
  EXPECT_NEAR(ClopperPearson(5, 10).low, 0.1871, 1e-4);
  EXPECT_NEAR(ClopperPearson(5, 10).high, 0.8129, 1e-4);
}

TEST(ClopperPearson, FewerEffectiveTrialsNeverNarrow) {
  Interval last{0.5, 0.5};
  for (double trials = 600; trials > 0.5; trials /= 1.7) {
    const Interval interval = ClopperPearson(0.03 * trials, trials);
    EXPECT_LE(interval.low, 0.03);
    EXPECT_GE(interval.high, 0.03);
    if (trials < 600) {
      EXPECT_GE(interval.high - interval.low, last.high - last.low);
    }
    last = interval;
  }
}

TEST(ClopperPearson, KnowsNothingWithoutTrials) {
  const Interval all{0, 1};
  EXPECT_EQ(ClopperPearson(0, 0), all);
  EXPECT_EQ(ClopperPearson(3, 2), all);
  EXPECT_EQ(ClopperPearson(kNaN, 2), all);
  EXPECT_EQ(ClopperPearson(1, kNaN), all);
  EXPECT_EQ(ClopperPearson(1, 2, kNaN), all);
}

}  // namespace
}  // namespace plimsoll
