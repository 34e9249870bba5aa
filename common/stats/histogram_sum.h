// Many sparse histograms added up in place: merging them one by one would move the growing sum's
// buckets about for each. What a step's cells come to is such a sum.
#pragma once

#include <cstdint>
#include <vector>

#include "common/stats/histogram.h"

namespace plimsoll {

class HistogramSum {
 public:
  // Adds the observations of `histogram`; time: its buckets.
  void Add(const Histogram& histogram);
  // The merged histogram, equal to what Merge() of all gives; the sum begins anew. Time: the
  // buckets between the first and the last that were ever counted.
  Histogram Take();

 private:
  void Cover(std::uint32_t first, std::uint32_t last);

  std::vector<std::uint64_t> counts_;  // By bucket from base_ on: as far as any was counted.
  std::uint32_t base_ = 0;
  bool any_ = false;
  Histogram::Parts parts_;  // Without buckets and sum.
  Uint128 sum_ = 0;
};

}  // namespace plimsoll
