// The bar: the limits agreed before a run, as values. Each limit is one part with a verdict of its
// own. What each metric is, in one table: coordinator/judge/metrics.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plimsoll {

// Stored: never renumber.
enum class Metric : std::uint8_t {
  kTtft = 1,           // Seconds; at most the limit is good.
  kInteractivity = 2,  // Tokens per second per user; at least the limit is good.
  kErrors = 3,         // Share 0…1; at most the limit is good.
  kToolCalls = 4,      // Share 0…1 of answers with tool calls that are malformed; likewise.
  kEndToEndInteractivity = 5,  // Tokens per second from the call's release; at least is good.
  kGoodput = 6,  // Seconds from the release to the end of a whole usable answer; at most is good.
};
inline constexpr std::uint8_t kMetricsKnown = 6;  // The highest number.

// "TTFT", "interactivity", "errors", "tool calls", "end-to-end interactivity", "goodput".
const char* Name(Metric metric);
// A share of bad ones, without a percentile.
constexpr bool IsBadShare(Metric metric) {
  return metric == Metric::kErrors || metric == Metric::kToolCalls;
}

// More limits, or runs behind one, than anybody reads.
inline constexpr std::size_t kBarLimitsMax = 64;
inline constexpr std::size_t kBaselineRunsMax = 64;

// Where a limit comes from that was derived from runs of today's recipe.
struct LimitOrigin {
  std::vector<std::string> runs;  // Their ids.
  std::uint32_t sessions = 0;     // The step that they are read at.
  double factor = 1;              // Of the baseline: 1.1 for +10%.
  double baseline = 0;            // Geometric mean of the runs' values; 0: not read yet.
  // 95% interval of the limit, since the runs differ; absent of one run, which cannot tell.
  std::optional<double> low;
  std::optional<double> high;
  friend bool operator==(const LimitOrigin&, const LimitOrigin&) = default;
};

struct Limit {
  Metric metric = Metric::kTtft;
  double quantile = 0.9;  // Share of calls that must be within the limit; unused for IsBadShare.
  double value = 0;       // In the metric's unit.
  std::string tier;       // Judges this tier's calls; empty: all.
  std::optional<LimitOrigin> origin;  // Absent: the value was written down.
  friend bool operator==(const Limit&, const Limit&) = default;
};

// What is asked of evals (docs/evals.md). No limit on calls, and no part that can hold a step: it
// enters a step's verdict only when it confidently fails.
struct EvalBar {
  std::optional<double> pass_rate;  // At least this share passes, 0…1; absent: no threshold.
  // At most so much below the unloaded rate, 0…1; absent: not compared.
  std::optional<double> drop;
  bool asks() const { return pass_rate || drop; }
  friend bool operator==(const EvalBar&, const EvalBar&) = default;
};

struct Bar {
  std::vector<Limit> limits;  // In the order in which they are printed.
  EvalBar evals;
  friend bool operator==(const Bar&, const Bar&) = default;
};

}  // namespace plimsoll
