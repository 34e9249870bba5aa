// The bar: the limits agreed before a run, as values. Each limit is one part with a verdict of its
// own.
#pragma once

#include <cstdint>
#include <vector>

namespace plimsoll {

// Stored: never renumber.
enum class Metric : std::uint8_t {
  kTtft = 1,           // Seconds; at most the limit is good.
  kInteractivity = 2,  // Tokens per second per user; at least the limit is good.
  kErrors = 3,         // Share 0…1; at most the limit is good.
  kToolCalls = 4,      // Share 0…1 of answers with tool calls that are malformed; likewise.
};

// "TTFT", "interactivity", "errors", "tool calls".
const char* Name(Metric metric);
// A share of bad ones, without a percentile.
constexpr bool IsBadShare(Metric metric) {
  return metric == Metric::kErrors || metric == Metric::kToolCalls;
}

struct Limit {
  Metric metric = Metric::kTtft;
  double quantile = 0.9;  // Share of calls that must be within the limit; unused for IsBadShare.
  double value = 0;       // In the metric's unit.
  friend bool operator==(const Limit&, const Limit&) = default;
};

struct Bar {
  std::vector<Limit>
      limits;  // In the order in which they are printed; at most one for each metric.
  friend bool operator==(const Bar&, const Bar&) = default;
};

}  // namespace plimsoll
