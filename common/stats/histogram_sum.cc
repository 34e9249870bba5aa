#include "common/stats/histogram_sum.h"

#include <algorithm>
#include <utility>

namespace plimsoll {

void HistogramSum::Add(const Histogram& histogram) {
  if (histogram.empty()) return;
  const std::vector<Histogram::Bucket>& buckets = histogram.buckets();
  if (!buckets.empty()) {
    if (counts_.empty()) counts_.resize(Histogram::kBuckets, 0);
    first_ = std::min(first_, buckets.front().index);
    end_ = std::max(end_, buckets.back().index + 1);
    for (const Histogram::Bucket& bucket : buckets) counts_[bucket.index] += bucket.count;
  }
  parts_.min = any_ ? std::min(parts_.min, histogram.min()) : histogram.min();
  parts_.max = std::max(parts_.max, histogram.max());
  parts_.overflow += histogram.overflow();
  sum_ += histogram.sum();
  any_ = true;
}

Histogram HistogramSum::Take() {
  for (std::uint32_t i = first_; i < end_; ++i) {
    if (counts_[i] > 0) parts_.buckets.push_back({i, std::exchange(counts_[i], 0)});
  }
  parts_.sum_high = static_cast<std::uint64_t>(sum_ >> 64);
  parts_.sum_low = static_cast<std::uint64_t>(sum_);
  Histogram merged = Histogram::FromParts(std::move(parts_)).value_or(Histogram{});
  parts_ = {};
  sum_ = 0;
  any_ = false;
  first_ = Histogram::kBuckets;
  end_ = 0;
  return merged;
}

}  // namespace plimsoll
