// A step whose calls have values of the test's, counted against one limit as ingest does.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/metrics.h"
#include "tests/coordinator/judge/evidence_builder.h"

namespace plimsoll::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

struct Shape {
  std::uint32_t lanes = 10;
  std::uint32_t blocks = 5;
  std::uint32_t calls = 6;  // A half-block.
};

// The value of a call of `lane` in half-block `half`, in the metric's unit: +infinity (times) or 0
// (rates) failed.
using Value = std::function<double(std::uint32_t lane, std::uint32_t half)>;

// A healthy step whose calls have these values, counted against `limit` as ingest does.
inline StepEvidence Measured(const Limit& limit, const Shape& shape, const Value& value) {
  const MetricTraits& traits = TraitsOf(limit.metric);
  StepEvidence e = Healthy();
  static_cast<CallEvidence&>(e) = {};
  e.cells.clear();
  const auto within = [&](double x, double edge) {
    return traits.at_most ? x <= edge && x < kInf : x >= edge && x > 0;
  };
  for (std::uint32_t lane = 0; lane < shape.lanes; ++lane) {
    for (std::uint32_t half = 0; half < shape.blocks * 2; ++half) {
      CellCounts cell{.lane = lane, .block = half / 2, .half = static_cast<std::uint8_t>(half % 2)};
      PartCounts part{.n = shape.calls};
      for (std::uint32_t i = 0; i < shape.calls; ++i) {
        const double x = value(lane, half);
        part.hits += within(x, limit.value) ? 1 : 0;
        part.hits_strict += within(x, StrictEdge(limit)) ? 1 : 0;
        part.hits_loose += within(x, LooseEdge(limit)) ? 1 : 0;
        for (std::size_t k = 0; k < part.hits_at.size(); ++k) {
          const double edge = limit.value * kThresholdFactors[k < kAtLimit ? k : k + 1];
          part.hits_at[k] += within(x, edge) ? 1 : 0;
        }
        if (x > 0 && x < kInf) {
          (e.*traits.values).Record(std::llround(x * traits.per_unit));
        } else {
          ++(e.*traits.valueless);
        }
      }
      cell.*traits.n = cell.attempts = shape.calls;
      cell.parts = {part};
      e.cells.push_back(cell);
    }
  }
  return e;
}

inline PartVerdict JudgeOne(const StepEvidence& evidence, const Limit& limit) {
  return JudgeStep(evidence, {.limits = {limit}}).parts.at(0);
}

inline Limit Ttft(double seconds, double quantile = 0.9) {
  return {.metric = Metric::kTtft, .quantile = quantile, .value = seconds};
}

// Open ends are as far as can be.
inline double LowOf(const PartVerdict& part) {
  return part.value_low.infinite ? kInf : part.value_low.value.value_or(-kInf);
}
inline double HighOf(const PartVerdict& part) {
  return part.value_high.value.value_or(kInf);
}

}  // namespace plimsoll::testing
