// What is wrong with the tool calls of an answer: a closed list, and counts by kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>

namespace plimsoll {

// Stored and sent: never renumber, only append. A call has at most one: the first that applies, in
// the order of this list.
enum class ToolFault : std::uint8_t {
  kEmptyDelta = 1,         // Announced, and nothing came: no name, no arguments, no id.
  kMissingName = 2,        // Arguments or an id, but of no tool.
  kUnknownTool = 3,        // A name that the request did not offer.
  kMalformedJson = 4,      // Arguments that are no JSON object.
  kBlankRequired = 5,      // A required argument is missing, null, or blank text.
  kSchemaMismatch = 6,     // The tool's JSON Schema refuses the arguments.
  kFinishWithoutCall = 7,  // Of an answer: finish reason tool_calls, and no call.
  kTooLarge = 8,           // Of an answer: more calls or longer arguments than any client takes.
};
inline constexpr std::size_t kToolFaults = 9;  // Slots of an array indexed by it; 0 is unused.

// "empty_delta", "missing_name", …; "unknown" outside the list.
std::string_view Name(ToolFault fault);
// One for people: "arguments do not match the tool's schema".
std::string_view Describe(ToolFault fault);
// The fault with that name; absent: none has it.
std::optional<ToolFault> ToolFaultNamed(std::string_view name);
// How test failures print one.
void PrintTo(ToolFault fault, std::ostream* out);
// False for 0 and beyond the list: what a peer sent is checked with this.
constexpr bool IsToolFault(unsigned value) {
  return value >= 1 && value < kToolFaults;
}

// The kinds of fault that one answer has, bit n for ToolFault n. Stored and sent: never renumber.
using ToolFaultBits = std::uint16_t;
// False for bits of no kind: what a peer sent is checked with this.
constexpr bool AreToolFaultBits(unsigned bits) {
  return (bits & 1) == 0 && bits < 1u << kToolFaults;
}

// Answers by what is wrong with their tool calls; an answer with several kinds counts in each.
struct FaultyAnswers {
  std::array<std::uint64_t, kToolFaults> by_kind{};  // Slot 0 stays 0.

  std::uint64_t of(ToolFault fault) const { return by_kind[static_cast<std::size_t>(fault)]; }
  bool any() const;
  void Add(ToolFaultBits answer);
  void Add(const FaultyAnswers& more);
  friend bool operator==(const FaultyAnswers&, const FaultyAnswers&) = default;
};

// Faults by kind, and what they are out of.
struct ToolFaultCounts {
  std::array<std::uint64_t, kToolFaults> by_kind{};  // Slot 0 stays 0.
  std::uint64_t calls = 0;    // Tool calls judged; not those that the output cap cut.
  std::uint64_t answers = 0;  // Answers judged that hold, or announce, a tool call.
  std::uint64_t faulty = 0;   // … and of them those with at least one fault.

  std::uint64_t of(ToolFault fault) const { return by_kind[static_cast<std::size_t>(fault)]; }
  std::uint64_t total() const;
  // The kinds that came.
  ToolFaultBits bits() const;
  void Add(ToolFault fault) { ++by_kind[static_cast<std::size_t>(fault)]; }
  void Add(const ToolFaultCounts& more);
  friend bool operator==(const ToolFaultCounts&, const ToolFaultCounts&) = default;
};

}  // namespace plimsoll
