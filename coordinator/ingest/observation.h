// What one call says of each metric of the bar, and how that counts against a limit. The one place
// where a metric is computed from a record. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/record/call_record.h"
#include "coordinator/judge/bar.h"
#include "coordinator/judge/evidence.h"

namespace plimsoll {

struct Observation {
  enum class Kind : std::uint8_t {
    kNone,  // The call says nothing: answered in one chunk, or its usage is missing.
    kValue,
    kFailed,  // It failed without a value: the worst there is.
  };
  Kind kind = Kind::kNone;
  double value = 0;       // Of kValue: nanoseconds, or tokens/s; what limits are compared with.
  std::int64_t kept = 0;  // The same in the unit of the metric's histogram.
};

// Of an ended call (its last attempt). Errors and tool calls are no metrics of calls, and a fault
// of our own is no observation of the deployment: kNone.
Observation Observe(Metric metric, const CallRecord& record);

// Counts calls against one limit; made once a step.
class PartCounter {
 public:
  PartCounter(const Limit& limit, const std::vector<std::string>& tier_names);

  Metric metric() const { return metric_; }
  // Whether the limit judges calls of this tier, by its index.
  bool Judges(std::uint8_t tier) const { return all_tiers_ || tier_ == tier; }
  void Add(const Observation& observation, PartCounts* counts) const;

 private:
  bool Within(double value, double limit) const {
    return at_most_ ? value <= limit : value >= limit;
  }

  Metric metric_;
  bool all_tiers_;
  std::optional<std::uint8_t> tier_;  // Absent of a tier that the plan does not have: no call's.
  bool at_most_;
  // In the unit of Observation::value. Not a number: nothing is within.
  std::array<double, kThresholds> thresholds_;
  double strict_;
  double loose_;
};

}  // namespace plimsoll
