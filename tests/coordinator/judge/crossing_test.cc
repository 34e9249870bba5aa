// The monotone fit and its crossing: against what can be said by hand, and what must hold of any
// points.
#include "coordinator/judge/crossing.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using Kind = CapacityEnd::Kind;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<double> Shares(const std::vector<SharePoint>& points) {
  std::vector<double> shares;
  shares.reserve(points.size());
  for (const SharePoint& point : points) shares.push_back(point.share);
  return shares;
}

TEST(MonotoneFit, LeavesWhatIsMonotoneAndPoolsTheRestByWeight) {
  EXPECT_THAT(Shares(MonotoneFit({{5, 0.99}, {10, 0.95}, {15, 0.95}, {20, 0.7}}, Trend::kFalls)),
              ElementsAre(0.99, 0.95, 0.95, 0.7));
  // 10 and 15 violate: 300 calls at 0.8 and 100 at 0.96 are 0.84.
  EXPECT_THAT(Shares(MonotoneFit({{5, 0.99, 1}, {10, 0.8, 300}, {15, 0.96, 100}, {20, 0.7, 9}},
                                 Trend::kFalls)),
              ElementsAre(0.99, DoubleNear(0.84, 1e-12), DoubleNear(0.84, 1e-12), 0.7));
  // A pool that violates in turn takes its neighbour in.
  EXPECT_THAT(Shares(MonotoneFit({{1, 0.6}, {2, 0.5}, {3, 0.9}}, Trend::kFalls)),
              ElementsAre(DoubleNear(2.0 / 3, 1e-12), DoubleNear(2.0 / 3, 1e-12),
                          DoubleNear(2.0 / 3, 1e-12)));
  EXPECT_THAT(Shares(MonotoneFit({{1, 0.01}, {2, 0.05}, {3, 0.03}}, Trend::kRises)),
              ElementsAre(0.01, DoubleNear(0.04, 1e-12), DoubleNear(0.04, 1e-12)));
}

TEST(MonotoneFit, TakesPointsInAnyOrderTheSameSessionsTogetherAndNoNumberThatIsNone) {
  const auto fit = MonotoneFit(
      {{15, 0.8}, {5, 1.0}, {10, kNan}, {kInf, 0.1}, {15, 0.4, 3}, {10, 0.9, kNan}, {10, 0.9, -1}},
      Trend::kFalls);
  ASSERT_EQ(fit.size(), 3u);
  EXPECT_EQ(fit[0].sessions, 5);
  EXPECT_EQ(fit[1].share, 0.9);
  EXPECT_EQ(fit[1].weight, 2);  // A weight that is none counts as one.
  EXPECT_DOUBLE_EQ(fit[2].share, 0.5);
  EXPECT_TRUE(MonotoneFit({}, Trend::kFalls).empty());
}

TEST(CrossingOf, LiesWhereTheStraightLineMeetsWhatIsAskedFor) {
  EXPECT_DOUBLE_EQ(*CrossingOf({{10, 0.95}, {15, 0.85}}, 0.9, Trend::kFalls), 12.5);
  EXPECT_DOUBLE_EQ(*CrossingOf({{10, 0.01}, {20, 0.06}}, 0.02, Trend::kRises), 12);
  // After the fit: 10 and 15 pool to 0.94, and the line falls from 15 on.
  EXPECT_NEAR(*CrossingOf({{5, 1}, {10, 0.89}, {15, 0.99}, {20, 0.86}}, 0.9, Trend::kFalls), 17.5,
              1e-9);
}

TEST(CrossingOf, SaysNothingBeyondThePoints) {
  const std::vector<SharePoint> points = {{5, 0.95}, {20, 0.85}};
  EXPECT_FALSE(CrossingOf(points, 0.8, Trend::kFalls));   // Never as low as that.
  EXPECT_FALSE(CrossingOf(points, 0.99, Trend::kFalls));  // Lower from the first on.
  EXPECT_FALSE(CrossingOf({}, 0.9, Trend::kFalls));
  EXPECT_FALSE(CrossingOf(points, kNan, Trend::kFalls));
  EXPECT_FALSE(LocateCrossing({{5, kNan}}, 0.9, Trend::kFalls));
  EXPECT_EQ(LocateCrossing(points, 0.8, Trend::kFalls),
            (CapacityEnd{.kind = Kind::kAtLeast, .sessions = 20}));
  EXPECT_EQ(LocateCrossing(points, 0.99, Trend::kFalls),
            (CapacityEnd{.kind = Kind::kBelow, .sessions = 5}));
  EXPECT_EQ(LocateCrossing({{7, 0.9}}, 0.9, Trend::kFalls),
            (CapacityEnd{.kind = Kind::kAtLeast, .sessions = 7}));
}

TEST(CrossingOf, AShareThatIsJustWhatIsAskedForIsGood) {
  EXPECT_EQ(*CrossingOf({{5, 0.95}, {10, 0.9}, {15, 0.8}}, 0.9, Trend::kFalls), 10);
  // Flat at it: the last step of them.
  EXPECT_EQ(*CrossingOf({{5, 0.9}, {10, 0.9}, {15, 0.8}}, 0.9, Trend::kFalls), 10);
  EXPECT_EQ(*CrossingOf({{5, 0.0}, {10, 0.02}, {15, 0.03}}, 0.02, Trend::kRises), 10);
  EXPECT_EQ(LocateCrossing({{5, 0.95}, {10, 0.9}}, 0.9, Trend::kFalls)->kind, Kind::kAtLeast);
}

TEST(CrossingOf, IsNeverRoundedUpToTheStepThatIsNotGood) {
  const auto end = LocateCrossing({{10, 1.0}, {15, std::nextafter(0.9, 0)}}, 0.9, Trend::kFalls);
  EXPECT_EQ(end->whole(), 14u);
  EXPECT_EQ((CapacityEnd{.sessions = 10 + 5 * (0.07 / 0.07 - 1e-12)}).whole(), 15u);
  EXPECT_EQ((CapacityEnd{.sessions = -3}).whole(), 0u);
  EXPECT_EQ((CapacityEnd{.sessions = 1e300}).whole(), std::numeric_limits<std::uint32_t>::max());
}

// Whatever was measured: the fit is monotone and keeps the weighted sum, and of three curves that
// lie over each other the crossings do too.
TEST(CrossingOf, KeepsTheOrderOfABandForAnyPoints) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed);
  for (int run = 0; run < 2'000; ++run) {
    std::vector<SharePoint> low;
    std::vector<SharePoint> middle;
    std::vector<SharePoint> high;
    const int steps = 1 + static_cast<int>(rng.Uniform() * 6);
    for (int i = 0; i < steps; ++i) {
      const double share = rng.Uniform();
      const double weight = 1 + rng.Uniform() * 500;
      const double sessions = 5 * (i + 1);
      low.push_back({sessions, share * rng.Uniform(), weight});
      middle.push_back({sessions, share, weight});
      high.push_back({sessions, share + (1 - share) * rng.Uniform(), weight});
    }
    const auto fit = MonotoneFit(middle, Trend::kFalls);
    double before = 0;
    double after = 0;
    for (std::size_t i = 0; i < fit.size(); ++i) {
      if (i > 0) {
        ASSERT_LE(fit[i].share, fit[i - 1].share);
      }
      before += middle[i].share * middle[i].weight;
      after += fit[i].share * fit[i].weight;
    }
    ASSERT_NEAR(before, after, 1e-9 * (1 + before));
    const double p0 = rng.Uniform();
    const auto a = LocateCrossing(low, p0, Trend::kFalls);
    const auto b = LocateCrossing(middle, p0, Trend::kFalls);
    const auto c = LocateCrossing(high, p0, Trend::kFalls);
    ASSERT_FALSE(Less(*b, *a)) << run;
    ASSERT_FALSE(Less(*c, *b)) << run;
  }
}

}  // namespace
}  // namespace plimsoll
