#include "common/stats/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "common/base/check.h"

namespace plimsoll {
namespace {

// ceil(q·n), at least 1, at most n. q·n is taken in extended precision and brought down by a few
// units in the last place first: 0.9 is a little more than nine tenths in binary, or a little less,
// and 0.9 of 10 observations are 9.
std::uint64_t RankOf(double q, std::uint64_t n) {
  const long double exact = static_cast<long double>(q) * static_cast<long double>(n);
  const long double slack = exact * 4 * std::numeric_limits<double>::epsilon();
  const long double rank = std::ceil(exact - slack);
  if (rank <= 1) return 1;
  if (rank >= static_cast<long double>(n)) return n;
  return static_cast<std::uint64_t>(rank);
}

bool IsShare(double q) {
  return q >= 0 && q <= 1;  // False for NaN.
}

// First bucket whose index is not below `index`. Branch-free halving: the pattern of the values is
// noise to a branch predictor, and this is the data plane.
std::size_t LowerBound(const std::vector<Histogram::Bucket>& buckets, std::uint32_t index) {
  const Histogram::Bucket* base = buckets.data();
  std::size_t left = buckets.size();
  if (left == 0) return 0;
  while (left > 1) {
    const std::size_t half = left / 2;
    base = base[half - 1].index < index ? base + half : base;
    left -= half;
  }
  return static_cast<std::size_t>(base - buckets.data()) + (base->index < index ? 1 : 0);
}

}  // namespace

std::uint32_t Histogram::IndexOf(std::int64_t value) {
  PLIMSOLL_CHECK(value >= 0 && value < kOverflow);
  const auto bits = static_cast<std::uint64_t>(value);
  const int width = std::bit_width(bits);
  const int shift = std::max(0, width - 1 - kSubBucketBits);
  return (static_cast<std::uint32_t>(shift) << kSubBucketBits) +
         static_cast<std::uint32_t>(bits >> shift);
}

std::int64_t Histogram::LowestOf(std::uint32_t index) {
  PLIMSOLL_CHECK(index < kBuckets);
  if (index < (2u << kSubBucketBits)) return index;
  const std::uint32_t shift = (index >> kSubBucketBits) - 1;
  return static_cast<std::int64_t>(index - (shift << kSubBucketBits)) << shift;
}

std::int64_t Histogram::HighestOf(std::uint32_t index) {
  return index + 1 == kBuckets ? kOverflow - 1 : LowestOf(index + 1) - 1;
}

bool Histogram::Record(std::int64_t value) {
  if (value < 0) return false;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  ++count_;
  sum_ += static_cast<std::uint64_t>(value);
  if (value >= kOverflow) {
    ++overflow_;
    return true;
  }
  const std::uint32_t index = IndexOf(value);
  const std::size_t at = LowerBound(buckets_, index);
  if (at < buckets_.size() && buckets_[at].index == index) {
    ++buckets_[at].count;
  } else {
    buckets_.insert(buckets_.begin() + static_cast<std::ptrdiff_t>(at), Bucket{index, 1});
  }
  return true;
}

void Histogram::Merge(const Histogram& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  std::vector<Bucket> merged;
  merged.reserve(buckets_.size() + other.buckets_.size());
  auto a = buckets_.begin();
  auto b = other.buckets_.begin();
  while (a != buckets_.end() || b != other.buckets_.end()) {
    if (b == other.buckets_.end() || (a != buckets_.end() && a->index < b->index)) {
      merged.push_back(*a++);
    } else if (a == buckets_.end() || b->index < a->index) {
      merged.push_back(*b++);
    } else {
      merged.push_back({a->index, a->count + b->count});
      ++a;
      ++b;
    }
  }
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  overflow_ += other.overflow_;
  sum_ += other.sum_;
  buckets_ = std::move(merged);
}

std::int64_t Histogram::HighestAtRank(std::uint64_t rank) const {
  std::uint64_t seen = 0;
  for (const Bucket& bucket : buckets_) {
    seen += bucket.count;
    if (seen >= rank) return std::clamp(HighestOf(bucket.index), min_, max_);
  }
  return max_;
}

std::int64_t Histogram::LowestAtRankFromAbove(std::uint64_t rank) const {
  std::uint64_t seen = overflow_;
  if (seen >= rank) return std::max(kOverflow, min_);
  for (auto bucket = buckets_.rbegin(); bucket != buckets_.rend(); ++bucket) {
    seen += bucket->count;
    if (seen >= rank) return std::clamp(LowestOf(bucket->index), min_, max_);
  }
  return min_;
}

std::optional<std::int64_t> Histogram::Quantile(double q) const {
  return QuantileWithInfinite(q, 0).value;
}

Percentile Histogram::QuantileWithInfinite(double q, std::uint64_t infinite) const {
  const std::uint64_t n = count_ + infinite;
  if (n == 0 || !IsShare(q)) return {};
  const std::uint64_t rank = RankOf(q, n);
  if (rank > count_) return {.value = std::nullopt, .infinite = true};
  return {.value = HighestAtRank(rank), .infinite = false};
}

std::optional<std::int64_t> Histogram::ReachedBy(double q) const {
  return ReachedByWithZeros(q, 0);
}

std::optional<std::int64_t> Histogram::ReachedByWithZeros(double q, std::uint64_t zeros) const {
  const std::uint64_t n = count_ + zeros;
  if (n == 0 || !IsShare(q)) return std::nullopt;
  const std::uint64_t rank = RankOf(q, n);
  if (rank > count_) return 0;
  return LowestAtRankFromAbove(rank);
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

Histogram::Parts Histogram::ToParts() const {
  return {.buckets = buckets_,
          .overflow = overflow_,
          .min = min(),
          .max = max(),
          .sum_high = static_cast<std::uint64_t>(sum_ >> 64),
          .sum_low = static_cast<std::uint64_t>(sum_)};
}

StatusOr<Histogram> Histogram::FromParts(Parts parts) {
  Histogram result;
  Uint128 count = parts.overflow;
  Uint128 sum_low = Uint128{parts.overflow} * static_cast<std::uint64_t>(kOverflow);
  Uint128 sum_high = Uint128{parts.overflow} * std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < parts.buckets.size(); ++i) {
    const Bucket& bucket = parts.buckets[i];
    if (bucket.index >= kBuckets || bucket.count == 0 ||
        (i > 0 && bucket.index <= parts.buckets[i - 1].index)) {
      return absl::InvalidArgumentError("histogram: buckets out of order, out of range or empty");
    }
    count += bucket.count;
    sum_low += Uint128{bucket.count} * static_cast<std::uint64_t>(LowestOf(bucket.index));
    sum_high += Uint128{bucket.count} * static_cast<std::uint64_t>(HighestOf(bucket.index));
  }
  if (count > std::numeric_limits<std::uint64_t>::max() / 2) {
    return absl::InvalidArgumentError("histogram: more observations than can be counted");
  }
  const Uint128 sum = (Uint128{parts.sum_high} << 64) + parts.sum_low;
  if (sum < sum_low || sum > sum_high) {
    return absl::InvalidArgumentError("histogram: the sum does not fit the buckets");
  }
  const auto in = [](std::int64_t value, std::uint32_t index) {
    return value >= LowestOf(index) && value <= HighestOf(index);
  };
  const bool no_buckets = parts.buckets.empty();
  const bool min_fits = no_buckets ? parts.overflow > 0 ? parts.min >= kOverflow : parts.min == 0
                                   : in(parts.min, parts.buckets.front().index);
  const bool max_fits = parts.overflow > 0 ? parts.max >= kOverflow
                        : no_buckets       ? parts.max == 0
                                           : in(parts.max, parts.buckets.back().index);
  if (!min_fits || !max_fits || parts.min > parts.max) {
    return absl::InvalidArgumentError("histogram: minimum or maximum outside the buckets");
  }
  result.buckets_ = std::move(parts.buckets);
  result.count_ = static_cast<std::uint64_t>(count);
  result.overflow_ = parts.overflow;
  result.min_ = parts.min;
  result.max_ = parts.max;
  result.sum_ = sum;
  return result;
}

}  // namespace plimsoll
