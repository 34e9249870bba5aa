// A histogram as servers keep one: counts by bucket, and the sum. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plimsoll {

class MetricHistogram {
 public:
  // Upper edges, ascending, each inclusive; the span's memory outlives the histogram.
  explicit MetricHistogram(std::span<const double> bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}

  // `times` equal observations at once.
  void Observe(double value, std::uint64_t times = 1);
  // Adds what `other`, of the same bounds, has seen.
  void Add(const MetricHistogram& other);
  void Clear();

  std::span<const double> bounds() const { return bounds_; }
  // Of each bucket alone, not of those below it; the last one is beyond all bounds.
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  std::uint64_t count() const { return count_; }
  double sum() const { return sum_; }

 private:
  std::span<const double> bounds_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace plimsoll
