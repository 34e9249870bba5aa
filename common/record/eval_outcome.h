// How the answer to one eval case was judged: a closed list, and counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>

namespace plimsoll {

// Stored and sent: never renumber, only append.
enum class EvalOutcome : std::uint8_t {
  kPass = 1,
  kWrong = 2,       // An answer, and not the right one.
  kNoCall = 3,      // A tool call was due and none came.
  kToolFault = 4,   // A tool call that is malformed in itself (ToolFault says how).
  kEmpty = 5,       // Ended in order with neither text nor call.
  kCut = 6,         // The output cap cut it before it was right.
  kUnanswered = 7,  // The call failed (Outcome says how): nothing to judge, no part of the rate.
};
inline constexpr std::size_t kEvalOutcomes = 8;  // Slots of an array indexed by it; 0 is unused.

// "pass", "wrong", "no_call", …; "unknown" outside the list.
std::string_view Name(EvalOutcome outcome);
// The outcome with that name; absent: none has it.
std::optional<EvalOutcome> EvalOutcomeNamed(std::string_view name);
// How test failures print one.
void PrintTo(EvalOutcome outcome, std::ostream* out);
// False for 0 and beyond the list: what a peer sent is checked with this.
constexpr bool IsEvalOutcome(unsigned value) {
  return value >= 1 && value < kEvalOutcomes;
}

// Outcomes counted. The pass rate is passed ÷ judged.
struct EvalCounts {
  std::array<std::uint64_t, kEvalOutcomes> by_outcome{};  // Slot 0 stays 0.

  std::uint64_t of(EvalOutcome outcome) const {
    return by_outcome[static_cast<std::size_t>(outcome)];
  }
  std::uint64_t passed() const { return of(EvalOutcome::kPass); }
  std::uint64_t judged() const;  // Everything but kUnanswered.
  void Add(EvalOutcome outcome) { ++by_outcome[static_cast<std::size_t>(outcome)]; }
  void Add(const EvalCounts& more);
  friend bool operator==(const EvalCounts&, const EvalCounts&) = default;
};

}  // namespace plimsoll
