// The exact test of a difference of two shares: its level and its interval's coverage by
// enumeration of every table, at shares that are not on its own grid; known values; the order of
// tables.
#include "common/stats/share_difference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

std::vector<double> Binomial(std::uint64_t n, double p) {
  std::vector<double> chance(n + 1);
  for (std::uint64_t k = 0; k <= n; ++k) {
    const auto x = static_cast<double>(k);
    const auto all = static_cast<double>(n);
    const double choose = std::lgamma(all + 1) - std::lgamma(x + 1) - std::lgamma(all - x + 1);
    chance[k] = choose == 0 && (p == 0 || p == 1)
                    ? ((p == 0) == (k == 0) ? 1 : 0)
                    : std::exp(choose) * std::pow(p, x) * std::pow(1 - p, all - x);
  }
  return chance;
}

// Of each count of b, how many counts of a, from none up, the test rejects: it rises in them.
std::vector<std::uint64_t> Rejected(std::uint64_t na, std::uint64_t nb, double difference,
                                    double level) {
  std::vector<std::uint64_t> rejected(nb + 1);
  for (std::uint64_t b = 0; b <= nb; ++b) {
    std::uint64_t low = 0;
    std::uint64_t high = na + 1;
    while (low < high) {
      const std::uint64_t a = (low + high) / 2;
      const bool rejects = a <= na && LowerDifferencePValue({a, na}, {b, nb}, difference) <= level;
      (rejects ? low : high) = rejects ? a + 1 : a;
    }
    rejected[b] = low;
  }
  return rejected;
}

// How often the test errs at the worst of 174 shares.
double SizeOf(std::uint64_t na, std::uint64_t nb, double difference) {
  const auto rejected = Rejected(na, nb, difference, 0.025);
  double size = 0;
  for (int i = 0; i <= 173; ++i) {
    const double low = std::max(0.0, -difference);
    const double share_b = low + (1 - low) * i / 173;
    const auto a = Binomial(na, std::clamp(share_b + difference, 0.0, 1.0));
    const auto b = Binomial(nb, share_b);
    double wrong = 0;
    for (std::uint64_t y = 0; y <= nb; ++y) {
      for (std::uint64_t x = 0; x < rejected[y]; ++x) wrong += a[x] * b[y];
    }
    size = std::max(size, wrong);
  }
  return size;
}

TEST(ShareDifference, TheTestErrsNoMoreOftenThanStated) {
  const struct {
    std::uint64_t na;
    std::uint64_t nb;
    double difference;
  } cases[] = {{12, 9, 0},    {12, 9, -0.1}, {20, 20, -0.05}, {9, 30, 0},
               {30, 9, -0.2}, {40, 72, 0},   {40, 72, -0.03}, {60, 72, -0.03}};
  double largest = 0;
  for (const auto& c : cases) {
    const double size = SizeOf(c.na, c.nb, c.difference);
    EXPECT_LE(size, 0.025 + 1e-9) << c.na << " " << c.nb << " " << c.difference;
    largest = std::max(largest, size);
    RecordProperty("size_" + std::to_string(c.na) + "_" + std::to_string(c.nb) + "_" +
                       std::to_string(-std::lround(100 * c.difference)),
                   std::to_string(size));
  }
  EXPECT_GT(largest, 0.015) << "a test that never rejects would pass as well";
}

TEST(ShareDifference, TheIntervalCoversByEnumeration) {
  constexpr std::uint64_t kA = 10;
  constexpr std::uint64_t kB = 14;
  std::vector<std::vector<Interval>> intervals(kA + 1, std::vector<Interval>(kB + 1));
  for (std::uint64_t x = 0; x <= kA; ++x) {
    for (std::uint64_t y = 0; y <= kB; ++y) {
      intervals[x][y] = ShareDifferenceInterval({x, kA}, {y, kB});
    }
  }
  double least = 1;
  double mean = 0;
  constexpr int kGrid = 23;
  for (int i = 0; i <= kGrid; ++i) {
    for (int j = 0; j <= kGrid; ++j) {
      const double pa = static_cast<double>(i) / kGrid;
      const double pb = static_cast<double>(j) / kGrid;
      const auto a = Binomial(kA, pa);
      const auto b = Binomial(kB, pb);
      double covered = 0;
      for (std::uint64_t x = 0; x <= kA; ++x) {
        for (std::uint64_t y = 0; y <= kB; ++y) {
          const Interval& in = intervals[x][y];
          if (in.low <= pa - pb && pa - pb <= in.high) covered += a[x] * b[y];
        }
      }
      least = std::min(least, covered);
      mean += covered / ((kGrid + 1) * (kGrid + 1));
    }
  }
  EXPECT_GE(least, 0.95 - 1e-9);
  EXPECT_LE(mean, 0.99) << "not needlessly wide";
  RecordProperty("least_coverage", std::to_string(least));
  RecordProperty("mean_coverage", std::to_string(mean));
}

TEST(ShareDifference, TheTestRisesInEachCountOfTheFirst) {
  for (const double difference : {0.0, -0.1, 0.3}) {
    for (std::uint64_t b = 0; b <= 8; ++b) {
      double before = 0;
      for (std::uint64_t a = 0; a <= 11; ++a) {
        const double p = LowerDifferencePValue({a, 11}, {b, 8}, difference);
        EXPECT_GE(p, before - 1e-4) << a << " " << b << " " << difference;
        before = p;
      }
    }
  }
}

TEST(ShareDifference, TellsAConfidentDropFromNoise) {
  const auto p = [](std::uint64_t a, std::uint64_t na, std::uint64_t b, std::uint64_t nb,
                    double difference) {
    return LowerDifferencePValue({a, na}, {b, nb}, difference);
  };
  EXPECT_GT(p(95, 100, 97, 100, 0), 0.2);
  EXPECT_LT(p(80, 100, 98, 100, 0), 1e-4);
  EXPECT_GT(p(93, 100, 98, 100, -0.03), 0.1);
  EXPECT_LT(p(80, 100, 98, 100, -0.03), 0.025);
  EXPECT_EQ(p(100, 100, 100, 100, 0), 1);
  EXPECT_LT(p(0, 20, 20, 20, 0), 1e-9);
  EXPECT_GT(p(0, 2, 2, 2, 0), 0.025) << "two against two say nothing";
}

TEST(ShareDifference, TheIntervalIsSymmetricAndHoldsTheEstimate) {
  const Interval in = ShareDifferenceInterval({40, 50}, {48, 50});
  const Interval mirrored = ShareDifferenceInterval({48, 50}, {40, 50});
  EXPECT_DOUBLE_EQ(in.low, -mirrored.high);
  EXPECT_DOUBLE_EQ(in.high, -mirrored.low);
  EXPECT_LT(in.low, -0.16);
  EXPECT_GT(in.high, -0.16);
  EXPECT_LT(in.high, 0) << "a confident difference";
  // The other interval for such counts, by Newcombe's score method, runs from −0.293 to −0.031.
  EXPECT_NEAR(in.low, -0.29, 0.03);
  EXPECT_NEAR(in.high, -0.03, 0.02);
}

TEST(ShareDifference, ManyTrialsAreThinnedAndStillTellADrop) {
  EXPECT_LT(LowerDifferencePValue({9'000, 10'000}, {9'800, 10'000}, -0.02), 0.025);
  EXPECT_GT(LowerDifferencePValue({9'790, 10'000}, {9'800, 10'000}, 0), 0.025);
}

TEST(ShareDifference, SenselessArgumentsRejectNothing) {
  EXPECT_EQ(LowerDifferencePValue({0, 0}, {1, 1}, 0), 1);
  EXPECT_EQ(LowerDifferencePValue({2, 1}, {1, 1}, 0), 1);
  EXPECT_EQ(LowerDifferencePValue({0, 9}, {9, 9}, std::numeric_limits<double>::quiet_NaN()), 1);
  EXPECT_EQ(ShareDifferenceInterval({0, 0}, {1, 1}), (Interval{-1, 1}));
  EXPECT_EQ(ShareDifferenceInterval({0, 1}, {1, 1}, 1.5), (Interval{-1, 1}));
}

}  // namespace
}  // namespace plimsoll
