// The histogram against a sorted vector of the same values, and its algebra.
#include "common/stats/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

constexpr std::int64_t kMaxValue = std::numeric_limits<std::int64_t>::max();

// Values over all magnitudes, small ones and repeats included.
std::vector<std::int64_t> Draw(Rng& rng, std::size_t n) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = static_cast<int>(rng.Below(63));
    const auto value = static_cast<std::int64_t>(rng.Below(std::uint64_t{1} << bits));
    values.push_back(value);
    if (rng.Chance(0.1)) values.push_back(value);
  }
  return values;
}

Histogram Of(const std::vector<std::int64_t>& values) {
  Histogram histogram;
  for (const std::int64_t value : values) histogram.Record(value);
  return histogram;
}

// The rank of the contract in exact arithmetic: q given as parts of 1000.
std::size_t Rank(std::uint64_t permille, std::size_t n) {
  return std::max<std::size_t>(1, (permille * n + 999) / 1000);
}

TEST(Histogram, BucketsCoverTheRangeWithoutGapOrOverlap) {
  std::int64_t expected = 0;
  for (std::uint32_t i = 0; i < Histogram::kBuckets; ++i) {
    ASSERT_EQ(Histogram::LowestOf(i), expected);
    ASSERT_EQ(Histogram::IndexOf(Histogram::LowestOf(i)), i);
    ASSERT_EQ(Histogram::IndexOf(Histogram::HighestOf(i)), i);
    // The stated resolution: width at most 1/256 of every value within.
    const std::int64_t spread = Histogram::HighestOf(i) - Histogram::LowestOf(i);
    ASSERT_TRUE(spread == 0 || (spread + 1) * 256 <= Histogram::LowestOf(i)) << i;
    expected = Histogram::HighestOf(i) + 1;
  }
  EXPECT_EQ(expected, Histogram::kOverflow);
  EXPECT_GT(Histogram::kOverflow, std::int64_t{38} * 3600 * 1'000'000'000);
}

TEST(Histogram, RanksAreRoundedAwayFromWhereTheyAreCounted) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<std::int64_t> values = Draw(rng, 1 + rng.Below(300));
    const Histogram histogram = Of(values);
    std::sort(values.begin(), values.end());
    for (std::size_t rank = 1; rank <= values.size(); ++rank) {
      const std::int64_t up = values[rank - 1];
      const std::int64_t down = values[values.size() - rank];
      EXPECT_GE(histogram.HighestAtRank(rank), up);
      EXPECT_LE(histogram.LowestAtRankFromAbove(rank), down);
      if (up < Histogram::kOverflow) {
        EXPECT_LE(histogram.HighestAtRank(rank) - up, up / 256);
      }
      if (down < Histogram::kOverflow) {
        EXPECT_LE(down - histogram.LowestAtRankFromAbove(rank), down / 256);
      }
    }
  }
}

TEST(Histogram, QuantilesMatchASortedVectorToTheStatedResolution) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<std::int64_t> values = Draw(rng, 1 + rng.Below(400));
    std::erase_if(values, [](std::int64_t v) { return v >= Histogram::kOverflow; });
    if (values.empty()) continue;
    const Histogram histogram = Of(values);
    std::sort(values.begin(), values.end());
    for (const std::uint64_t permille : {0u, 1u, 100u, 500u, 900u, 950u, 990u, 999u, 1000u}) {
      const double q = static_cast<double>(permille) / 1000;
      const std::size_t rank = Rank(permille, values.size());
      const std::int64_t x = values[rank - 1];
      const std::int64_t r = histogram.Quantile(q).value();
      ASSERT_GE(r, x) << permille;
      ASSERT_LE((r - x) * 256, x) << permille;
      const std::int64_t y = values[values.size() - rank];
      const std::int64_t reached = histogram.ReachedBy(q).value();
      ASSERT_LE(reached, y) << permille;
      ASSERT_LE((y - reached) * 256, y) << permille;
    }
    EXPECT_EQ(histogram.Quantile(1), values.back());
    EXPECT_EQ(histogram.ReachedBy(1), values.front());
  }
}

TEST(Histogram, KeepsCountExtremesAndSumExactly) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::vector<std::int64_t> values = Draw(rng, 300);
    const Histogram histogram = Of(values);
    Uint128 sum = 0;
    for (const std::int64_t v : values) sum += static_cast<std::uint64_t>(v);
    EXPECT_EQ(histogram.count(), values.size());
    EXPECT_EQ(histogram.min(), *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(histogram.max(), *std::max_element(values.begin(), values.end()));
    EXPECT_TRUE(histogram.sum() == sum);
    EXPECT_EQ(histogram.overflow(), static_cast<std::uint64_t>(std::count_if(
                                        values.begin(), values.end(),
                                        [](std::int64_t v) { return v >= Histogram::kOverflow; })));
  }
}

TEST(Histogram, SumDoesNotWrap) {
  Histogram histogram;
  for (int i = 0; i < 5; ++i) histogram.Record(kMaxValue);
  EXPECT_TRUE(histogram.sum() == Uint128{5} * static_cast<std::uint64_t>(kMaxValue));
  EXPECT_NEAR(histogram.mean(), static_cast<double>(kMaxValue), 1e4);
}

TEST(Histogram, MergeEqualsRecordingTheUnion) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::vector<std::int64_t> a = Draw(rng, rng.Below(60));
    const std::vector<std::int64_t> b = Draw(rng, rng.Below(60));
    const std::vector<std::int64_t> c = Draw(rng, rng.Below(60));
    std::vector<std::int64_t> all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());

    Histogram left = Of(a);
    left.Merge(Of(b));
    left.Merge(Of(c));
    Histogram tail = Of(c);
    tail.Merge(Of(b));  // Commuted, and grouped the other way.
    Histogram right = tail;
    right.Merge(Of(a));
    EXPECT_EQ(left, Of(all));
    EXPECT_EQ(right, Of(all));
  }
}

TEST(Histogram, MergeWithItselfDoubles) {
  Rng rng(7);
  std::vector<std::int64_t> values = Draw(rng, 50);
  Histogram histogram = Of(values);
  histogram.Merge(histogram);
  values.insert(values.end(), values.begin(), values.end());
  EXPECT_EQ(histogram, Of(values));
}

TEST(Histogram, AbsentValuesAreNotCounted) {
  Histogram histogram;
  EXPECT_FALSE(histogram.Record(-1));
  EXPECT_FALSE(histogram.Record(std::numeric_limits<std::int64_t>::min()));
  EXPECT_TRUE(histogram.empty());
  EXPECT_TRUE(histogram.Record(0));
  EXPECT_EQ(histogram.Quantile(0.5), 0);
}

TEST(Histogram, EmptyOrSenselessQuantilesAreAbsent) {
  Histogram histogram;
  EXPECT_EQ(histogram.Quantile(0.9), std::nullopt);
  EXPECT_EQ(histogram.ReachedBy(0.9), std::nullopt);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.mean(), 0);
  histogram.Record(5);
  EXPECT_EQ(histogram.Quantile(std::nan("")), std::nullopt);
  EXPECT_EQ(histogram.Quantile(1.1), std::nullopt);
  EXPECT_EQ(histogram.Quantile(-0.1), std::nullopt);
}

TEST(Histogram, ExactTenthsAreNotPushedUpByBinaryFractions) {
  // 0.9 of 10 is the 9th, 0.7 of 10 the 7th, for any multiple of 10.
  for (std::int64_t n = 10; n <= 400; n += 10) {
    Histogram histogram;
    for (std::int64_t v = 1; v <= n; ++v) histogram.Record(v);
    for (const std::int64_t tenths : {1, 3, 6, 7, 9}) {
      EXPECT_EQ(histogram.Quantile(static_cast<double>(tenths) / 10), tenths * n / 10);
      EXPECT_EQ(histogram.ReachedBy(static_cast<double>(tenths) / 10), n + 1 - tenths * n / 10);
    }
  }
}

TEST(Histogram, FailedCallsCountAsInfinite) {
  Histogram histogram;
  for (std::int64_t v = 1; v <= 90; ++v) histogram.Record(v);
  EXPECT_EQ(histogram.QuantileWithInfinite(0.9, 10), (Percentile{.value = 90}));
  EXPECT_EQ(histogram.QuantileWithInfinite(0.9, 11), (Percentile{.infinite = true}));
  EXPECT_EQ(histogram.QuantileWithInfinite(0.5, 10), (Percentile{.value = 50}));
  EXPECT_EQ(Histogram().QuantileWithInfinite(0.9, 3), (Percentile{.infinite = true}));
  EXPECT_EQ(Histogram().QuantileWithInfinite(0.9, 0), Percentile{});
}

TEST(Histogram, FailedCallsCountAsRateZero) {
  Histogram histogram;
  for (std::int64_t v = 1; v <= 90; ++v) histogram.Record(v);
  EXPECT_EQ(histogram.ReachedByWithZeros(0.9, 10), 1);
  EXPECT_EQ(histogram.ReachedByWithZeros(0.9, 11), 0);
  EXPECT_EQ(histogram.ReachedByWithZeros(0.5, 10), 41);
  EXPECT_EQ(Histogram().ReachedByWithZeros(0.9, 2), 0);
  EXPECT_EQ(Histogram().ReachedByWithZeros(0.9, 0), std::nullopt);
}

TEST(Histogram, OverflowIsCountedAndBounded) {
  Histogram histogram;
  histogram.Record(100);
  histogram.Record(Histogram::kOverflow);
  histogram.Record(Histogram::kOverflow + 12345);
  EXPECT_EQ(histogram.overflow(), 2u);
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.Quantile(0.5), Histogram::kOverflow + 12345);
  EXPECT_EQ(histogram.ReachedBy(0.5), Histogram::kOverflow);
  EXPECT_EQ(histogram.ReachedBy(1), 100);
}

TEST(Histogram, PartsRoundTrip) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Histogram histogram = Of(Draw(rng, rng.Below(80)));
    const StatusOr<Histogram> again = Histogram::FromParts(histogram.ToParts());
    ASSERT_TRUE(again.ok()) << MessageOf(again.status());
    EXPECT_EQ(*again, histogram);
  }
}

TEST(Histogram, PartsThatNoRecordsLeaveAreRefused) {
  const Histogram::Parts good = Of({3, 3, 1000, 70'000}).ToParts();
  ASSERT_TRUE(Histogram::FromParts(good).ok());
  const auto refused = [&](auto change) {
    Histogram::Parts bad = good;
    change(bad);
    return !Histogram::FromParts(bad).ok();
  };
  using P = Histogram::Parts;
  EXPECT_TRUE(refused([](P& p) { std::swap(p.buckets[0], p.buckets[1]); }));
  EXPECT_TRUE(refused([](P& p) { p.buckets[1] = p.buckets[0]; }));
  EXPECT_TRUE(refused([](P& p) { p.buckets[2].index = Histogram::kBuckets; }));
  EXPECT_TRUE(refused([](P& p) { p.buckets[0].count = 0; }));
  EXPECT_TRUE(refused([](P& p) { p.min = 2; }));
  EXPECT_TRUE(refused([](P& p) { p.max = 80'000; }));
  EXPECT_TRUE(refused([](P& p) { p.max = -1; }));
  EXPECT_TRUE(refused([](P& p) { p.sum_low = 1; }));
  EXPECT_TRUE(refused([](P& p) { p.sum_high = 1; }));
  EXPECT_TRUE(refused([](P& p) { p.overflow = 1; }));
  EXPECT_TRUE(refused([](P& p) { p.buckets.clear(); }));
  EXPECT_TRUE(refused([](P& p) {
    for (auto& b : p.buckets) b.count = std::numeric_limits<std::uint64_t>::max();
  }));
}

}  // namespace
}  // namespace plimsoll
