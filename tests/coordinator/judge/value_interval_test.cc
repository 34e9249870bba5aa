// The interval of a percentile itself: how often it covers a known percentile, and its agreement
// with the verdict whatever was counted.
#include "coordinator/judge/value_interval.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "common/base/rng.h"
#include "gtest/gtest.h"
#include "tests/coordinator/judge/measured_step.h"
#include "tests/coordinator/judge/share_cells.h"

namespace plimsoll {
namespace {

using testing::HighOf;
using testing::JudgeOne;
using testing::kInf;
using testing::LowOf;
using testing::Measured;
using testing::Shape;
using testing::Ttft;

TEST(NearestThreshold, IsTheOneNearestByLogitWithCallsOnBothSides) {
  std::array<std::uint64_t, kThresholds> hits = {0, 0, 10, 60, 80, 97, 100, 100, 100};
  EXPECT_EQ(NearestThreshold(0.9, 100, hits), kAtLimit);
  EXPECT_EQ(NearestThreshold(0.98, 100, hits), 5u);
  EXPECT_EQ(NearestThreshold(0.92, 100, hits), kAtLimit) << "97% is nearer, but further out";
  EXPECT_EQ(NearestThreshold(0.5, 100, hits), 3u);
  hits = {0, 0, 0, 0, 0, 0, 0, 3, 100};  // The limit lies far under the calls.
  EXPECT_EQ(NearestThreshold(0.9, 100, hits), 7u);
  hits.fill(90);
  EXPECT_EQ(NearestThreshold(0.9, 100, hits), kAtLimit) << "as near as the others";
  hits.fill(0);
  EXPECT_EQ(NearestThreshold(0.9, 100, hits), std::nullopt);
  hits.fill(100);
  EXPECT_EQ(NearestThreshold(0.9, 100, hits), std::nullopt);
  EXPECT_EQ(NearestThreshold(0.9, 0, {}), std::nullopt);
}

TEST(BandOf, IsOpenWhereNoCallBoundsTheQuantile) {
  const auto open = [](const QuantileBand& band) { return band.low <= 0 && band.high >= 1; };
  EXPECT_TRUE(open(BandOf(0.9, {})));
  EXPECT_TRUE(open(BandOf(0.9, testing::Grid(1, 1, 12, 6)))) << "one cluster";
  EXPECT_TRUE(open(BandOf(0.9, testing::Grid(3, 1, 12, 12)))) << "36 calls of three lanes";
  const auto cells = testing::Grid(10, 5, 12, 11);
  for (const double q : {0.0, 1.0, -1.0, 2.0, std::nan("")}) EXPECT_TRUE(open(BandOf(q, cells)));
  const QuantileBand known = BandOf(0.9, cells);
  EXPECT_GT(known.low, 0.8);
  EXPECT_LT(known.high, 1);
}

TEST(BandOf, ReachesFromTheFirstToTheLastCallWhereOnlyTheExtremesReject) {
  for (const std::uint64_t hits : {0u, 12u}) {
    const auto cells = testing::Grid(10, 5, 12, hits);
    ASSERT_GT(ShareOf(testing::Grid(10, 5, 12, 12)).low, 0.9);
    const QuantileBand band = BandOf(0.9, cells);
    EXPECT_EQ(band.low, 0.5 / 600);
    EXPECT_EQ(band.high, 1 - 0.5 / 600);
  }
}

// Where the share is about q itself, the share lies in q's band exactly when q lies in the share's
// interval.
TEST(BandOf, TurnsTheTestOfAShareAround) {
  int agree = 0;
  int inside = 0;
  constexpr int kTrials = 600;
  for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
    Rng rng(seed);
    auto cells = testing::Grid(static_cast<std::uint32_t>(2 + rng.Below(12)), 4, 10, 0);
    for (ShareCell& cell : cells) {
      const double share = cell.lane % 3 == 0 ? 0.7 + 0.25 * rng.Uniform() : 0.93;
      for (std::uint64_t i = 0; i < cell.n; ++i) cell.hits += rng.Chance(share) ? 1 : 0;
    }
    const ShareInterval interval = ShareOf(cells);
    const QuantileBand band = BandOf(0.9, cells);
    const bool in_band = band.low <= interval.share && interval.share <= band.high;
    const bool in_interval = interval.low <= 0.9 && 0.9 <= interval.high;
    agree += in_band == in_interval ? 1 : 0;
    inside += in_band ? 1 : 0;
  }
  EXPECT_GE(agree, kTrials * 98 / 100);
  EXPECT_GT(inside, kTrials / 3);
  EXPECT_LT(inside, kTrials) << "some are outside, or nothing was tried";
}

// Calls of one lane share a session's factor; the true P90 of all calls is known.
TEST(ValueInterval, CoversTheTruePercentileHoweverFarTheLimitIs) {
  constexpr double kCall = 0.7;
  constexpr double kLane = 0.3;
  const double p90 = 4 * std::exp(1.2815515655 * std::hypot(kCall, kLane));
  for (const double times : {1.0, 1.1, 2.9, 30.0, 1 / 30.0}) {
    int covered = 0;
    double width = 0;
    constexpr int kTrials = 120;
    for (std::uint64_t seed = 1; seed <= kTrials; ++seed) {
      Rng rng(seed);
      std::vector<double> lanes(30);
      for (double& lane : lanes) lane = kLane * rng.Normal();
      const PartVerdict part =
          JudgeOne(Measured(Ttft(p90 * times), {.lanes = 30},
                            [&](std::uint32_t lane, std::uint32_t) {
                              return 4 * std::exp(lanes[lane] + kCall * rng.Normal());
                            }),
                   Ttft(p90 * times));
      ASSERT_TRUE(part.value_low.value && part.value_high.value) << part.reason;
      covered += LowOf(part) <= p90 && p90 <= HighOf(part) ? 1 : 0;
      width += (HighOf(part) - LowOf(part)) / p90 / kTrials;
      EXPECT_LE(LowOf(part), *part.value);
      EXPECT_LE(*part.value, HighOf(part));
    }
    std::printf("limit %.2f of the P90: covered %d of %d, width %.2f of it\n", times, covered,
                kTrials, width);
    EXPECT_GE(covered, kTrials * 92 / 100) << times;
    EXPECT_LE(width, 0.6) << times;
  }
}

// Whatever was measured: the interval and the verdict say the same of the limit.
TEST(ValueInterval, LiesOnTheVerdictsSideOfTheLimit) {
  int seen[5] = {};
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    constexpr Metric kOfCalls[] = {Metric::kTtft, Metric::kInteractivity,
                                   Metric::kEndToEndInteractivity, Metric::kGoodput};
    Limit limit{.metric = kOfCalls[rng.Below(4)], .quantile = rng.Chance(0.5) ? 0.9 : 0.5};
    limit.value = std::exp(2 * rng.Normal());
    const bool spread = rng.Chance(0.3);
    if (spread) {
      limit.origin = LimitOrigin{.runs = {"a", "b"}, .sessions = 1, .baseline = 1};
      limit.origin->low = limit.value * 0.8;
      limit.origin->high = limit.value * 1.2;
    }
    const Shape shape{.lanes = static_cast<std::uint32_t>(1 + rng.Below(10)),
                      .blocks = static_cast<std::uint32_t>(1 + rng.Below(5)),
                      .calls = static_cast<std::uint32_t>(20 + rng.Below(10))};
    const double fails = rng.Chance(0.3) ? 0.15 * rng.Uniform() : 0;
    const bool at_most = TraitsOf(limit.metric).at_most;
    const PartVerdict part =
        JudgeOne(Measured(limit, shape,
                          [&](std::uint32_t lane, std::uint32_t) {
                            if (rng.Chance(fails)) return at_most ? kInf : 0.0;
                            // Sometimes few values, so that calls lie at the limit itself.
                            const double x = std::exp(0.1 * lane + rng.Normal());
                            return seed % 4 == 0 ? limit.value * std::round(4 * x) / 4 : x;
                          }),
                 limit);
    if (part.verdict == Verdict::kNoData) continue;
    ++seen[static_cast<std::size_t>(part.verdict)];
    // By how bad it is, so that a higher number is worse for speeds too.
    const double sign = at_most ? 1 : -1;
    const double strict = sign * StrictEdge(limit);
    const double loose = sign * LooseEdge(limit);
    const double low = LowOf(part);
    const double high = HighOf(part);
    const double best = sign * (at_most ? low : high);
    const double worst = sign * (at_most ? high : low);
    EXPECT_LE(low, high);
    if (part.verdict == Verdict::kPass) {
      EXPECT_LE(worst, strict);
    } else if (part.verdict == Verdict::kFail) {
      EXPECT_GE(best, loose);
    } else {
      EXPECT_LE(best, loose);
      EXPECT_GE(worst, strict);
    }
    // A bucket's width is all that the value can lie outside of an interval that the limit cut.
    const double value = part.value_infinite ? kInf : *part.value;
    EXPECT_GE(value, low * (1 - 1.0 / 255));
    EXPECT_LE(value, high * (1 + 1.0 / 255));
  }
  for (int v = 1; v <= 3; ++v) EXPECT_GT(seen[v], 50) << Name(static_cast<Verdict>(v));
}

}  // namespace
}  // namespace plimsoll
