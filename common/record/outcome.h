// How a call ended: a closed list (design section 2). Every released attempt ends in exactly one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace plimsoll {

// Stored and sent: never renumber, only append.
enum class Outcome : std::uint8_t {
  kOk = 1,
  kRefused = 2,          // 429, 503, shed.
  kContextOverflow = 3,  // The server says that the prompt (with its output) is too long.
  kHttpError = 4,        // Any other status but 200, or an answer that is not of the protocol.
  kStreamError = 5,      // An error object or "event: error" after a 200.
  kTruncated = 6,        // Ended without a finish reason or terminal event.
  kEmpty = 7,            // Ended in order, but with no token and no stop reason.
  kDeadline = 8,         // The call's own deadline passed.
  kIdleTimeout = 9,      // Nothing arrived for too long.
  kConnectError = 10,    // No connection, or it broke before the headers.
  kCut = 11,             // Unfinished when the drain limit passed.
  kClientError = 12,     // Our own: no port, no descriptor, out of memory.
};
inline constexpr std::size_t kOutcomes = 13;  // Slots of an array indexed by Outcome; 0 is unused.

// "ok", "refused", "context_overflow", …; "unknown" outside the list.
std::string_view Name(Outcome outcome);
// How test failures print one.
void PrintTo(Outcome outcome, std::ostream* out);
// False for 0 and beyond the list: what a peer sent is checked with this.
constexpr bool IsOutcome(unsigned value) {
  return value >= 1 && value < kOutcomes;
}
// A failure counts in the error rate; kOk does not, nor does kClientError, which is ours.
constexpr bool IsFailure(Outcome outcome) {
  return outcome != Outcome::kOk && outcome != Outcome::kClientError;
}

using OutcomeCounts = std::array<std::uint64_t, kOutcomes>;

}  // namespace plimsoll
