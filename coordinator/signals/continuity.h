// Whether a target's counters counted on through a time. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace plimsoll {

// Kept with runs: never renumber. In the order of what they spoil.
enum class Continuity : std::uint8_t {
  kWhole = 0,
  kReset = 1,
  kRestarted = 2,
  kAlternates = 3,
};
std::string_view ContinuityWords(Continuity continuity);  // "counters fell".

}  // namespace plimsoll
