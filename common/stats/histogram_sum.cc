#include "common/stats/histogram_sum.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace plimsoll {

void HistogramSum::Add(const Histogram& histogram) {
  if (histogram.empty()) return;
  const std::vector<Histogram::Bucket>& buckets = histogram.buckets();
  if (!buckets.empty()) {
    Cover(buckets.front().index, buckets.back().index);
    for (const Histogram::Bucket& bucket : buckets) counts_[bucket.index - base_] += bucket.count;
  }
  parts_.min = any_ ? std::min(parts_.min, histogram.min()) : histogram.min();
  parts_.max = std::max(parts_.max, histogram.max());
  parts_.overflow += histogram.overflow();
  sum_ += histogram.sum();
  any_ = true;
}

// In whole octaves, so that it grows a few times at most.
void HistogramSum::Cover(std::uint32_t first, std::uint32_t last) {
  constexpr std::uint32_t kOctave = 1u << Histogram::kSubBucketBits;
  const std::uint32_t from = first / kOctave * kOctave;
  const std::uint32_t to = (last / kOctave + 1) * kOctave;
  if (counts_.empty()) base_ = from;
  if (from < base_) {
    counts_.insert(counts_.begin(), base_ - from, 0);
    base_ = from;
  }
  if (to > base_ + counts_.size()) counts_.resize(to - base_, 0);
}

Histogram HistogramSum::Take() {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    parts_.buckets.push_back({base_ + static_cast<std::uint32_t>(i), std::exchange(counts_[i], 0)});
  }
  parts_.sum_high = static_cast<std::uint64_t>(sum_ >> 64);
  parts_.sum_low = static_cast<std::uint64_t>(sum_);
  Histogram merged = Histogram::FromParts(std::move(parts_)).value_or(Histogram{});
  parts_ = {};
  sum_ = 0;
  any_ = false;
  return merged;
}

}  // namespace plimsoll
