#include "gateway/metrics/metric_histogram.h"

#include <algorithm>

namespace plimsoll {

void MetricHistogram::Observe(double value, std::uint64_t times) {
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  counts_[static_cast<std::size_t>(bucket)] += times;
  count_ += times;
  sum_ += value * static_cast<double>(times);
}

void MetricHistogram::Add(const MetricHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
}

void MetricHistogram::Clear() {
  counts_.assign(counts_.size(), 0);
  count_ = 0;
  sum_ = 0;
}

}  // namespace plimsoll
