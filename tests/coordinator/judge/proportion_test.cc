// The share's interval: its edges, its inversion against the stated test, and its coverage on a toy
// with known truth.
#include "coordinator/judge/proportion.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "common/stats/student_t.h"
#include "tests/coordinator/judge/share_cells.h"

namespace plimsoll {
namespace {

using testing::Grid;

// A toy of a step: each lane has its own share, Beta-like spread by `lane_effect` on the logit.
std::vector<ShareCell> Toy(Rng& rng, std::uint32_t lanes, double logit, double lane_effect) {
  std::vector<ShareCell> cells;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const double share = 1 / (1 + std::exp(-(logit + lane_effect * rng.Normal())));
    for (std::uint32_t block = 0; block < 5; ++block) {
      ShareCell cell{.lane = lane, .block = block, .n = 4 + rng.Below(12)};
      for (std::uint64_t i = 0; i < cell.n; ++i) cell.hits += rng.Chance(share) ? 1 : 0;
      cells.push_back(cell);
    }
  }
  return cells;
}

TEST(FewestForQuantile, GivesTheThresholdsOfTheDesign) {
  EXPECT_EQ(FewestForQuantile(0.90), 36u);
  EXPECT_EQ(FewestForQuantile(0.95), 72u);
  EXPECT_EQ(FewestForQuantile(0.99), 368u);
  EXPECT_EQ(FewestForQuantile(0.10), 36u);
  EXPECT_EQ(FewestForQuantile(0.50), 6u);
}

TEST(FewestForQuantile, NoQuantileNoThreshold) {
  for (const double q : {0.0, 1.0, -0.5, 2.0, std::nan("")}) EXPECT_EQ(FewestForQuantile(q), 0u);
  EXPECT_GT(FewestForQuantile(1e-30), std::uint64_t{1} << 60);
}

TEST(ShareOf, ZeroCallsKnowNothing) {
  for (const auto& cells : {std::vector<ShareCell>{}, Grid(5, 5, 0, 0)}) {
    const ShareInterval interval = ShareOf(cells);
    EXPECT_EQ(interval.n, 0u);
    EXPECT_EQ(interval.low, 0);
    EXPECT_EQ(interval.high, 1);
    EXPECT_EQ(Compare(interval, 0.9, Side::kAbove).side, Side::kCrosses);
    EXPECT_EQ(Compare(interval, 0.9, Side::kAbove).lean, Lean::kNone);
  }
}

TEST(ShareOf, OneCellNeverDecides) {
  for (const std::uint64_t hits : {0u, 200u, 400u}) {
    const ShareInterval interval = ShareOf(Grid(1, 1, 400, hits));
    EXPECT_EQ(interval.clusters, 1u);
    EXPECT_EQ(interval.low, 0);
    EXPECT_EQ(interval.high, 1);
  }
}

TEST(ShareOf, OneLaneIsClusteredByRunsOfTwentyCalls) {
  // Ten blocks of 8 calls: runs of 24, 24 and 32 (a rest of 8 joins the run before it).
  EXPECT_EQ(ShareOf(Grid(1, 10, 8, 8)).clusters, 3u);
  // A rest of 16 is a run of its own.
  EXPECT_EQ(ShareOf(Grid(1, 5, 8, 8)).clusters, 2u);
  EXPECT_EQ(ShareOf(Grid(2, 5, 40, 40)).clusters, 10u);
  const ShareInterval all_good = ShareOf(Grid(1, 10, 40, 40));
  EXPECT_GT(all_good.low, 0.9);
  EXPECT_LT(ShareOf(Grid(1, 10, 40, 20)).high, 0.9);
}

// A block is two slices: they cannot tell what lanes do together, however many lanes there are.
TEST(ShareOf, OneBlockLeavesItOpenAndTwoDoNot) {
  std::vector<ShareCell> uneven = Grid(40, 1, 40, 40);
  for (ShareCell& cell : uneven) cell.hits -= cell.lane % 3;
  for (const auto& cells : {Grid(10, 1, 40, 40), Grid(10, 1, 40, 0), uneven}) {
    const ShareInterval interval = ShareOf(cells);
    EXPECT_GT(interval.clusters, 9u);
    EXPECT_EQ(interval.degrees, 0);
    EXPECT_EQ(interval.low, 0);
    EXPECT_EQ(interval.high, 1);
    EXPECT_EQ(BandOf(0.9, cells).low, 0);
    EXPECT_EQ(BandOf(0.9, cells).high, 1);
  }
  EXPECT_GT(ShareOf(Grid(10, 2, 40, 40)).low, 0.9);
  EXPECT_LT(ShareOf(Grid(10, 2, 40, 0)).high, 0.9);
}

TEST(ShareOf, NoneOverTheLimitStillHasALowerEnd) {
  double last = 0;
  for (const std::uint64_t n : {2u, 8u, 40u}) {
    const ShareInterval interval = ShareOf(Grid(15, 5, n, n));
    EXPECT_EQ(interval.share, 1);
    EXPECT_EQ(interval.high, 1);
    EXPECT_LT(interval.low, 1);
    EXPECT_GE(interval.low, last);
    last = interval.low;
  }
}

TEST(ShareOf, AllOverTheLimitFailsEvenWithThreeLanes) {
  for (const std::uint32_t lanes : {3u, 5u, 7u, 8u, 15u}) {
    const ShareInterval interval = ShareOf(Grid(lanes, 5, 10, 0));
    EXPECT_EQ(interval.low, 0);
    EXPECT_EQ(Compare(interval, 0.9, Side::kAbove).side, Side::kBelow) << lanes;
  }
}

TEST(ShareOf, LanesThatDifferWidenTheInterval) {
  const ShareInterval even = ShareOf(Grid(10, 5, 10, 9));
  std::vector<ShareCell> uneven = Grid(10, 5, 10, 10);
  for (ShareCell& cell : uneven) {
    if (cell.lane < 2) cell.hits = 5;  // The same share over all.
  }
  const ShareInterval spread = ShareOf(uneven);
  EXPECT_EQ(even.share, spread.share);
  EXPECT_GT(spread.design_effect, 5);
  EXPECT_GT(spread.high - spread.low, 2 * (even.high - even.low));
}

TEST(ShareOf, ASmallerTailIsAWiderInterval) {
  Rng rng(5);
  const std::vector<ShareCell> cells = Toy(rng, 9, 2.2, 0.7);
  const ShareInterval usual = ShareOf(cells);
  const ShareInterval surer = ShareOf(cells, {.tail = 0.001});
  EXPECT_LT(surer.low, usual.low);
  EXPECT_GT(surer.high, usual.high);
}

TEST(ShareOf, DegreesOfFreedomCanBeGranted) {
  const std::vector<ShareCell> two = Grid(2, 2, 40, 20);
  const ShareInterval own = ShareOf(two);
  const ShareInterval granted = ShareOf(two, {.degrees_min = 6});
  ASSERT_LT(own.degrees, 6);
  EXPECT_EQ(granted.degrees, 6);
  EXPECT_GT(granted.low, own.low);
  EXPECT_EQ(ShareOf(two, {.degrees_min = own.degrees / 2}).low, own.low) << "never fewer";
}

TEST(ShareOf, OrderAndSplitOfTheCellsDoNotMatter) {
  Rng rng(11);
  std::vector<ShareCell> cells = Toy(rng, 9, 2.2, 0.7);
  const ShareInterval before = ShareOf(cells);
  std::reverse(cells.begin(), cells.end());
  ShareCell& last = cells.back();
  ASSERT_GE(last.n, 2u);
  const std::uint64_t moved = std::min<std::uint64_t>(1, last.hits);
  last.n -= 1;
  last.hits -= moved;
  cells.push_back({last.lane, last.block, 1, moved});
  const ShareInterval after = ShareOf(cells);
  EXPECT_DOUBLE_EQ(before.low, after.low);
  EXPECT_DOUBLE_EQ(before.high, after.high);
}

TEST(ShareOf, MoreHitsThanCallsAreNotBelieved) {
  const ShareInterval interval = ShareOf(Grid(4, 4, 10, 4'000'000));
  EXPECT_EQ(interval.share, 1);
  EXPECT_LE(interval.high, 1);
}

// The interval's ends against the test written out: just inside is not rejected, just outside is.
TEST(ShareOf, EndsAreWhereTheStatedTestTurns) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const auto lanes = static_cast<std::uint32_t>(3 + rng.Below(20));
    const ShareInterval interval = ShareOf(Toy(rng, lanes, rng.Uniform() * 4, rng.Uniform()));
    const double s = interval.share;
    const double worth = static_cast<double>(interval.n) / interval.design_effect;
    const double t = StudentTQuantile(0.975, interval.degrees);
    const auto rejected = [&](double p) {
      const double squared = (s - p) * (s - p);
      return squared > t * t / worth * std::max(p * (1 - p), s * (1 - s) + squared);
    };
    constexpr double kStep = 1e-7;
    if (interval.low > 2 * kStep) {
      EXPECT_TRUE(rejected(interval.low - kStep));
      EXPECT_FALSE(rejected(interval.low + kStep));
    }
    if (interval.high < 1 - 2 * kStep) {
      EXPECT_TRUE(rejected(interval.high + kStep));
      EXPECT_FALSE(rejected(interval.high - kStep));
    }
    EXPECT_LE(interval.low, interval.share);
    EXPECT_GE(interval.high, interval.share);
  }
}

// A self-check, not the calibration: a toy with lane effects and known truth. Prints what it found.
TEST(ShareOf, CoversTheTruthOfAToyWithLaneEffects) {
  constexpr std::uint64_t kSeed = 20260101;
  constexpr int kRuns = 400;
  Rng rng(kSeed);
  int pooled = 0;
  int cells = 0;
  for (const double lane_effect : {0.0, 0.8}) {
    // The truth of the toy: the mean share over lanes, by many draws.
    double truth = 0;
    for (int i = 0; i < 200'000; ++i) {
      truth += 1 / (1 + std::exp(-(2.4 + lane_effect * rng.Normal()))) / 200'000;
    }
    for (const std::uint32_t lanes : {4u, 8u, 15u}) {
      int covered = 0;
      for (int run = 0; run < kRuns; ++run) {
        const ShareInterval interval = ShareOf(Toy(rng, lanes, 2.4, lane_effect));
        covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
      }
      const double coverage = static_cast<double>(covered) / kRuns;
      std::printf("seed %llu lane effect %.1f lanes %2u: coverage %.3f\n",
                  static_cast<unsigned long long>(kSeed), lane_effect, lanes, coverage);
      EXPECT_GE(coverage, 0.90) << lane_effect << " " << lanes;
      pooled += covered;
      ++cells;
    }
  }
  const double coverage = static_cast<double>(pooled) / (cells * kRuns);
  std::printf("pooled coverage %.3f\n", coverage);
  EXPECT_GE(coverage, 0.94);
}

TEST(SmallShareOf, NoAttemptsKnowNothing) {
  EXPECT_EQ(SmallShareOf({}).low, 0);
  EXPECT_EQ(SmallShareOf({}).high, 1);
}

TEST(SmallShareOf, WithoutFailuresItIsClopperPearson) {
  const ShareInterval interval = SmallShareOf(Grid(10, 5, 10, 0));
  EXPECT_EQ(interval.low, 0);
  EXPECT_NEAR(interval.high, 1 - std::pow(0.025, 1.0 / 500), 1e-9);
}

TEST(SmallShareOf, TwoPercentNeedsAHundredAndEightyThreeCleanAttempts) {
  const auto side = [](std::uint64_t last) {
    return Compare(SmallShareOf({{0, 0, 60, 0}, {1, 0, 60, 0}, {2, 0, last, 0}}), 0.02,
                   Side::kBelow)
        .side;
  };
  EXPECT_EQ(side(62), Side::kCrosses);
  EXPECT_EQ(side(63), Side::kBelow);
}

TEST(SmallShareOf, AFailureInOneCellIsOneEventNotEighty) {
  std::vector<ShareCell> cells = Grid(15, 5, 8, 0);
  cells[7] = {cells[7].lane, cells[7].block, 90, 81};  // A failed play with 80 unsent calls.
  const ShareInterval interval = SmallShareOf(cells);
  EXPECT_GT(interval.design_effect, 20);
  EXPECT_EQ(Compare(interval, 0.02, Side::kBelow).side, Side::kCrosses);
  EXPECT_EQ(Compare(interval, 0.02, Side::kBelow).lean, Lean::kFail);
}

TEST(SmallShareOf, ACrashInTheLastBlockIsAFailure) {
  std::vector<ShareCell> cells = Grid(10, 5, 8, 0);
  for (ShareCell& cell : cells) {
    if (cell.block == 4) cell.hits = 8;
  }
  EXPECT_EQ(Compare(SmallShareOf(cells), 0.02, Side::kBelow).side, Side::kAbove);
}

TEST(SmallShareOf, AllFailedIsAFailureWhateverTheShape) {
  for (const std::uint32_t lanes : {1u, 2u, 3u, 15u}) {
    const ShareInterval interval = SmallShareOf(Grid(lanes, 1, 20, 20));
    EXPECT_EQ(interval.share, 1);
    EXPECT_EQ(interval.high, 1);
    EXPECT_EQ(Compare(interval, 0.02, Side::kBelow).side, Side::kAbove) << lanes;
  }
}

TEST(SmallShareOf, OneClusterIsOneObservation) {
  const ShareInterval interval = SmallShareOf(Grid(1, 1, 5000, 0));
  EXPECT_NEAR(interval.high, 0.975, 1e-9);
}

struct Misses {
  int low = 0;   // The whole interval above the truth: errors overstated.
  int high = 0;  // The whole interval below it: errors not seen.
};

// Errors of 5% of the calls, and plays that fail with a burst of 1 to 41 unsent calls.
Misses MissesOfErrors(Rng& rng, std::uint32_t lanes, double burst_chance, int runs) {
  constexpr double kBurstMean = 21;
  const double truth = (8 * 0.05 + burst_chance * kBurstMean) / (8 + burst_chance * kBurstMean);
  Misses misses;
  for (int run = 0; run < runs; ++run) {
    std::vector<ShareCell> cells = Grid(lanes, 5, 8, 0);
    for (ShareCell& cell : cells) {
      for (int i = 0; i < 8; ++i) cell.hits += rng.Chance(0.05) ? 1 : 0;
      if (!rng.Chance(burst_chance)) continue;
      const std::uint64_t unsent = 1 + rng.Below(41);
      cell.n += unsent;
      cell.hits += unsent;
    }
    const ShareInterval interval = SmallShareOf(cells);
    misses.low += interval.low > truth ? 1 : 0;
    misses.high += interval.high < truth ? 1 : 0;
  }
  return misses;
}

// A self-check of the errors' interval. It never overstates errors more often than it should; with
// rare bursts it misses them when none happened, which no count can see. Prints what it found.
TEST(SmallShareOf, DoesNotOverstateErrorsOfAToy) {
  constexpr std::uint64_t kSeed = 20260102;
  constexpr int kRuns = 400;
  Rng rng(kSeed);
  for (const double burst_chance : {0.0, 0.01, 0.04}) {
    for (const std::uint32_t lanes : {4u, 15u}) {
      const Misses misses = MissesOfErrors(rng, lanes, burst_chance, kRuns);
      std::printf("seed %llu burst chance %.2f lanes %2u: overstated %.3f, not seen %.3f\n",
                  static_cast<unsigned long long>(kSeed), burst_chance, lanes,
                  static_cast<double>(misses.low) / kRuns,
                  static_cast<double>(misses.high) / kRuns);
      EXPECT_LE(misses.low, kRuns * 5 / 100);
      if (burst_chance == 0) {
        EXPECT_LE(misses.high, kRuns * 5 / 100);
      }
    }
  }
}

TEST(Compare, NaNNeverCompares) {
  const ShareInterval good = ShareOf(Grid(15, 5, 40, 40));
  const SideOf side = Compare(good, std::numeric_limits<double>::quiet_NaN(), Side::kAbove);
  EXPECT_EQ(side.side, Side::kCrosses);
  EXPECT_EQ(side.lean, Lean::kNone);
}

TEST(Compare, TheLimitItselfIsCrossedAndLeansGood) {
  const ShareInterval interval{.n = 10, .share = 0.9, .low = 0.9, .high = 0.9};
  EXPECT_EQ(Compare(interval, 0.9, Side::kAbove).side, Side::kCrosses);
  EXPECT_EQ(Compare(interval, 0.9, Side::kAbove).lean, Lean::kPass);
  EXPECT_EQ(Compare(interval, 0.9, Side::kBelow).lean, Lean::kPass);
  EXPECT_EQ(Compare(interval, 0.91, Side::kAbove).side, Side::kBelow);
  EXPECT_EQ(Compare(interval, 0.89, Side::kAbove).side, Side::kAbove);
}

}  // namespace
}  // namespace plimsoll
