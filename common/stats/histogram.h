// A mergeable log-linear histogram of non-negative whole numbers in the caller's unit (nanoseconds,
// thousandths of tokens/s): 256 sub-buckets an octave, exact count, minimum, maximum and sum.
//
// Values below 512 have a bucket each. A value in [2^e, 2^(e+1)), 9 <= e < 47, lies in a bucket of
// width 2^(e-8), at most 1/256 of the value. From 2^47 on (39 h in nanoseconds) values are counted
// as overflow. With nanoseconds, 1 µs to 38 h is resolved to 1 part in 256 or better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/status.h"

namespace plimsoll {

__extension__ using Uint128 = unsigned __int128;

// A percentile over observations some of which are +infinity or absent altogether.
struct Percentile {
  std::optional<std::int64_t> value;  // Absent: no observations, or the percentile is infinite.
  bool infinite = false;              // It fell among the +infinities.
  friend bool operator==(const Percentile&, const Percentile&) = default;
};

class Histogram {
 public:
  struct Bucket {
    std::uint32_t index = 0;  // See IndexOf; below kBuckets.
    std::uint64_t count = 0;  // > 0.
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };
  // All that a histogram is, for codecs. Of an empty one everything is zero.
  struct Parts {
    std::vector<Bucket> buckets;  // Ascending by index, no index twice.
    std::uint64_t overflow = 0;
    std::int64_t min = 0;
    std::int64_t max = 0;
    std::uint64_t sum_high = 0;  // Upper and lower 64 bits of the sum.
    std::uint64_t sum_low = 0;
    friend bool operator==(const Parts&, const Parts&) = default;
  };

  static constexpr int kSubBucketBits = 8;
  static constexpr int kOverflowBits = 47;
  static constexpr std::int64_t kOverflow = std::int64_t{1} << kOverflowBits;
  // Indices run without a gap from 0 to the bucket that ends at kOverflow - 1.
  static constexpr std::uint32_t kBuckets =
      ((kOverflowBits - kSubBucketBits - 1) << kSubBucketBits) + (2u << kSubBucketBits);

  // Bucket of a value in [0, kOverflow).
  static std::uint32_t IndexOf(std::int64_t value);
  // Smallest and largest value of bucket `index` < kBuckets.
  static std::int64_t LowestOf(std::uint32_t index);
  static std::int64_t HighestOf(std::uint32_t index);

  // Counts one observation. A negative value says "absent" everywhere in our records: it is not
  // counted, and false is returned.
  bool Record(std::int64_t value);

  // Adds the observations of `other`: the result equals recording them all here. Associative and
  // commutative. Merging a histogram into itself doubles it.
  void Merge(const Histogram& other);

  // The value that at least ceil(q·n) of the n observations, and at least one, are at or under, to
  // the bucket's resolution: with x the ceil(q·n)-th smallest observation, the result r satisfies
  // x <= r < x + x/256 (r = x below 512 or if x is the maximum). Among overflowed values r is the
  // maximum. q in [0, 1]; absent if empty or q is outside (NaN too).
  std::optional<std::int64_t> Quantile(double q) const;
  // The same with `infinite` further observations of +infinity.
  Percentile QuantileWithInfinite(double q, std::uint64_t infinite) const;

  // The mirror image, for rates: the value that at least ceil(q·n) of the observations, and at
  // least one, reach or beat. With x the ceil(q·n)-th largest, x - x/256 < r <= x (r = x below 512
  // or if x is the minimum); among overflowed values r is kOverflow, or the minimum if larger.
  std::optional<std::int64_t> ReachedBy(double q) const;
  // The same with `zeros` further observations of 0.
  std::optional<std::int64_t> ReachedByWithZeros(double q, std::uint64_t zeros) const;

  // Observation number `rank` of all, 1 <= rank <= count(), rounded away from where it is counted
  // from. From below, with x the rank-th smallest: x <= r < x + x/256. From above, with x the
  // rank-th largest: x - x/256 < r <= x. Exact and among overflowed values as above.
  std::int64_t HighestAtRank(std::uint64_t rank) const;
  std::int64_t LowestAtRankFromAbove(std::uint64_t rank) const;

  bool empty() const { return count_ == 0; }
  std::uint64_t count() const { return count_; }        // Overflowed ones included.
  std::uint64_t overflow() const { return overflow_; }  // Of them at or above kOverflow.
  // Exact, in the caller's unit; 0 if empty.
  std::int64_t min() const { return count_ == 0 ? 0 : min_; }
  std::int64_t max() const { return count_ == 0 ? 0 : max_; }
  Uint128 sum() const { return sum_; }
  // 0 if empty.
  double mean() const;
  const std::vector<Bucket>& buckets() const { return buckets_; }  // Ascending by index.

  Parts ToParts() const;
  // Refuses parts that no sequence of records could have left (order, range, minimum or maximum
  // outside the outer buckets, a sum that the buckets cannot have): what a file or a peer sent.
  static StatusOr<Histogram> FromParts(Parts parts);

  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  std::vector<Bucket> buckets_;  // Sparse: most cells of a step hold a handful of calls.
  std::uint64_t count_ = 0;
  std::uint64_t overflow_ = 0;
  std::int64_t min_ = 0;
  std::int64_t max_ = 0;
  Uint128 sum_ = 0;
};

}  // namespace plimsoll
