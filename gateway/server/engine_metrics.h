// The /metrics page under vLLM V1's names: counts kept here, gauges handed in. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/time.h"
#include "gateway/engine/engine.h"

namespace plimsoll {

// Cumulative buckets are made when the page is written.
class MetricHistogram {
 public:
  explicit MetricHistogram(std::span<const double> bounds)
      : bounds_(bounds), counts_(bounds.size() + 1) {}
  // `times` equal observations at once.
  void Observe(double value, std::uint64_t times = 1);
  void Append(std::string_view name, std::string_view labels, std::string* page) const;

 private:
  std::span<const double> bounds_;
  std::vector<std::uint64_t> counts_;  // Of each bucket alone; the last one is beyond all bounds.
  double sum_ = 0;
};

// What one copy of the engine counts beyond its gauges.
struct CopyMetrics {
  CopyMetrics();
  MetricHistogram ttft;
  MetricHistogram inter_token;
  MetricHistogram per_output_token;  // Per finished request: decode time / (n - 1).
  MetricHistogram end_to_end;
  std::uint64_t stop = 0;
  std::uint64_t length = 0;
};

struct MetricsPage {
  std::string_view model;
  WallTime started{};
  std::span<const CopyMetrics> copies;   // The label `engine` is the index.
  std::span<const EngineGauges> gauges;  // As many.
  std::uint32_t kv_blocks = 0;
  bool prefix_cache = true;
};

std::string FormatMetrics(const MetricsPage& page);

}  // namespace plimsoll
