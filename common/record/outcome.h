// How a call ended: a closed list (design section 2). Every released attempt ends in exactly one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
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

// The outcome with that name; absent: none has it.
std::optional<Outcome> OutcomeNamed(std::string_view name);

// A set of outcomes as bits, bit n for outcome n. Sent so: never renumber.
class OutcomeSet {
 public:
  constexpr OutcomeSet() = default;
  constexpr OutcomeSet(std::initializer_list<Outcome> outcomes) {
    for (const Outcome outcome : outcomes) Add(outcome);
  }
  // Any bits; those of no outcome stay, so that a reader can refuse them.
  static constexpr OutcomeSet FromBits(std::uint32_t bits) {
    OutcomeSet set;
    set.bits_ = bits;
    return set;
  }
  constexpr void Add(Outcome outcome) { bits_ |= 1u << static_cast<unsigned>(outcome); }
  constexpr bool Contains(Outcome outcome) const {
    return (bits_ >> static_cast<unsigned>(outcome) & 1u) != 0;
  }
  constexpr bool IsWithin(OutcomeSet other) const { return (bits_ & ~other.bits_) == 0; }
  constexpr std::uint32_t bits() const { return bits_; }
  friend constexpr bool operator==(OutcomeSet, OutcomeSet) = default;

 private:
  std::uint32_t bits_ = 0;
};

// What a client can react to: every outcome but ok, and cut, which is the run's own end of a call.
inline constexpr OutcomeSet kAnsweredFailures = {
    Outcome::kRefused,      Outcome::kContextOverflow, Outcome::kHttpError, Outcome::kStreamError,
    Outcome::kTruncated,    Outcome::kEmpty,           Outcome::kDeadline,  Outcome::kIdleTimeout,
    Outcome::kConnectError, Outcome::kClientError};

using OutcomeCounts = std::array<std::uint64_t, kOutcomes>;

}  // namespace plimsoll
