// How a step of a run came about, and whether it was cut short: what the sweep's policy decided and
// why, kept with the step. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace plimsoll {

// Stored: never renumber.
enum class StepKind : std::uint8_t {
  kPlanned = 1,     // One of the scenario's steps.
  kExtension = 2,   // More time for the step before, which was too close; judged together with it.
  kRepeat = 3,      // Of a step that had no data.
  kRefinement = 4,  // Between the last step that held and the first that did not.
};
// "planned", "extension", "repeat", "refinement".
const char* Name(StepKind kind);

// The ladder of the scenario's own mix; the others are named after their tier.
inline constexpr char kMixLadder[] = "mix";

struct StepOrigin {
  StepKind kind = StepKind::kPlanned;
  std::string ladder = kMixLadder;
  std::string reason;  // Why the policy asked for it, in words; empty: not known.
  // The step was failed after so many of its blocks, at a planned look; its evidence ends at
  // `measured` of its measured time. Absent: it was not.
  std::optional<std::uint32_t> failed_early_after;
  Duration measured{};
  friend bool operator==(const StepOrigin&, const StepOrigin&) = default;
};

}  // namespace plimsoll
