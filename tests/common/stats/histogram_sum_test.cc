// A sum of histograms against the same histograms merged one by one.
#include "common/stats/histogram_sum.h"

#include <limits>
#include <vector>

#include "common/base/rng.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

Histogram Merged(const std::vector<Histogram>& all) {
  Histogram merged;
  for (const Histogram& histogram : all) merged.Merge(histogram);
  return merged;
}

Histogram Of(std::initializer_list<std::int64_t> values) {
  Histogram histogram;
  for (const std::int64_t value : values) histogram.Record(value);
  return histogram;
}

TEST(HistogramSum, IsWhatMergingGives) {
  HistogramSum sum;  // Used again and again: each sum begins anew.
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    std::vector<Histogram> all(rng.Below(12));
    for (Histogram& histogram : all) {
      for (std::uint64_t i = rng.Below(40); i > 0; --i) {
        // From exact buckets to those that overflow.
        histogram.Record(static_cast<std::int64_t>(rng.Next() >> (1 + rng.Below(63))));
      }
      sum.Add(histogram);
    }
    EXPECT_EQ(sum.Take(), Merged(all)) << "seed " << seed;
  }
}

TEST(HistogramSum, OfNothingAndOfWhatHasNoBucketsIsThatToo) {
  HistogramSum sum;
  EXPECT_EQ(sum.Take(), Histogram{});
  sum.Add(Histogram{});
  EXPECT_EQ(sum.Take(), Histogram{});
  const Histogram over = Of({Histogram::kOverflow, std::numeric_limits<std::int64_t>::max()});
  sum.Add(over);
  sum.Add(over);
  EXPECT_EQ(sum.Take(), Merged({over, over}));
  const std::vector<Histogram> ends = {Of({0}), over, Of({Histogram::kOverflow - 1})};
  for (const Histogram& histogram : ends) sum.Add(histogram);
  EXPECT_EQ(sum.Take(), Merged(ends));
  EXPECT_EQ(sum.Take(), Histogram{}) << "it was taken";
}

}  // namespace
}  // namespace plimsoll
