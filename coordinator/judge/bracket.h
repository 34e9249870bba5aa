// What a ladder on one tier alone says: from the last step that passed to the first that failed,
// and never a number between them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coordinator/judge/capacity.h"

namespace plimsoll {

// A step of a ladder, as what it held or missed.
struct BracketEnd {
  std::uint32_t sessions = 0;
  std::optional<double> requests_in_flight;  // Mean over the measured time; absent: not known.
  friend bool operator==(const BracketEnd&, const BracketEnd&) = default;
};

struct Bracket {
  std::optional<BracketEnd> passed;  // Last, below the first that failed; absent: none did.
  std::optional<BracketEnd> failed;  // First; absent: none did.
  // "20 sessions passed last (19.4 requests in flight), 30 failed first (29.1): TTFT" · "20
  // sessions passed last (19.4 requests in flight), none failed" · "the first step, 5 sessions,
  // failed (4.9 requests in flight): TTFT" · "no step was decided".
  std::string sentence;
  friend bool operator==(const Bracket&, const Bracket&) = default;
};

// `history` is the ladder's.
Bracket BracketOf(const SweepHistory& history);

}  // namespace plimsoll
