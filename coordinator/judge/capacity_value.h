// The capacity of a sweep as a value: what the store keeps and the reports say. Made by
// coordinator/judge/capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/judge/bar.h"
#include "coordinator/judge/crossing.h"

namespace plimsoll {

// Sessions at which something is reached: the likeliest number and its 95% interval, low <= value
// <= high, each as far as the measured steps can tell it.
struct CapacityBand {
  CapacityEnd value;
  CapacityEnd low;
  CapacityEnd high;
  friend bool operator==(const CapacityBand&, const CapacityBand&) = default;
};

// Of one part of the bar alone.
struct PartCapacity {
  Limit limit;
  std::optional<CapacityBand> band;  // Absent: no step had data for it.
  friend bool operator==(const PartCapacity&, const PartCapacity&) = default;
};

struct Capacity {
  std::optional<std::uint32_t> passed;         // Last step that passed below the first that failed.
  std::optional<std::uint32_t> failed;         // First step that failed.
  std::string sentence;                        // All of it in words.
  std::optional<Metric> limited_by;            // Metric of the part that is crossed first.
  double requests_in_flight = 0;               // Kept by `passed` sessions.
  std::optional<CapacityBand> band;            // Absent: no step had data.
  std::vector<PartCapacity> parts;             // In the bar's order; empty: no step was run.
  std::optional<std::uint32_t> limiting_part;  // Index in `parts` of limited_by.
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

}  // namespace plimsoll
