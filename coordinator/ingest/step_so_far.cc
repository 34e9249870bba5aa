#include "coordinator/ingest/step_so_far.h"

#include <algorithm>
#include <utility>

#include "common/stats/histogram.h"

namespace plimsoll {
namespace {

// Many sparse histograms added up in place: merging them one by one would move the growing sum's
// buckets about for each.
class Sum {
 public:
  Sum() : counts_(Histogram::kBuckets, 0) {}

  void Add(const Histogram& histogram) {
    if (histogram.empty()) return;
    for (const Histogram::Bucket& bucket : histogram.buckets()) {
      counts_[bucket.index] += bucket.count;
    }
    parts_.min = any_ ? std::min(parts_.min, histogram.min()) : histogram.min();
    parts_.max = std::max(parts_.max, histogram.max());
    parts_.overflow += histogram.overflow();
    sum_ += histogram.sum();
    any_ = true;
  }

  // The merged histogram; the sum is used up.
  Histogram Take() {
    for (std::uint32_t i = 0; i < Histogram::kBuckets; ++i) {
      if (counts_[i] > 0) parts_.buckets.push_back({i, counts_[i]});
    }
    parts_.sum_high = static_cast<std::uint64_t>(sum_ >> 64);
    parts_.sum_low = static_cast<std::uint64_t>(sum_);
    return Histogram::FromParts(std::move(parts_)).value_or(Histogram{});
  }

 private:
  std::vector<std::uint64_t> counts_;
  Histogram::Parts parts_;
  Uint128 sum_ = 0;
  bool any_ = false;
};

}  // namespace

StepSoFar SoFar(const std::vector<Cell>& cells, double ttft_quantile, double rate_share) {
  Sum ttft_sum;
  Sum rate_sum;
  StepSoFar so_far;
  for (const Cell& cell : cells) {
    so_far.ttft_n += cell.counts.ttft_n;
    so_far.rate_n += cell.counts.rate_n;
    ttft_sum.Add(cell.ttft_ns);
    rate_sum.Add(cell.rate_mtok_s);
  }
  const Histogram ttft = ttft_sum.Take();
  const Histogram rate = rate_sum.Take();
  const std::uint64_t infinite = so_far.ttft_n - ttft.count();
  const std::uint64_t zeros = so_far.rate_n - rate.count();
  so_far.ttft_p90_ns = ttft.QuantileWithInfinite(0.9, infinite);
  so_far.ttft_asked_ns = ttft.QuantileWithInfinite(ttft_quantile, infinite);
  so_far.rate_p90_mtok_s = rate.ReachedByWithZeros(0.9, zeros);
  so_far.rate_asked_mtok_s = rate.ReachedByWithZeros(rate_share, zeros);
  return so_far;
}

}  // namespace plimsoll
