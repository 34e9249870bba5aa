#include "common/record/tool_fault.h"

#include <numeric>
#include <ostream>

namespace plimsoll {

std::string_view Name(ToolFault fault) {
  switch (fault) {
    case ToolFault::kEmptyDelta:
      return "empty_delta";
    case ToolFault::kMissingName:
      return "missing_name";
    case ToolFault::kUnknownTool:
      return "unknown_tool";
    case ToolFault::kMalformedJson:
      return "malformed_json";
    case ToolFault::kBlankRequired:
      return "blank_required";
    case ToolFault::kSchemaMismatch:
      return "schema_mismatch";
    case ToolFault::kFinishWithoutCall:
      return "finish_without_call";
    case ToolFault::kTooLarge:
      return "too_large";
  }
  return "unknown";
}

std::string_view Describe(ToolFault fault) {
  switch (fault) {
    case ToolFault::kEmptyDelta:
      return "a tool call was announced and nothing of it came";
    case ToolFault::kMissingName:
      return "a tool call names no tool";
    case ToolFault::kUnknownTool:
      return "a tool call names a tool that was not offered";
    case ToolFault::kMalformedJson:
      return "a tool call's arguments are no JSON object";
    case ToolFault::kBlankRequired:
      return "a required argument is missing or blank";
    case ToolFault::kSchemaMismatch:
      return "a tool call's arguments do not match the tool's schema";
    case ToolFault::kFinishWithoutCall:
      return "the finish reason says tool calls and there is none";
    case ToolFault::kTooLarge:
      return "more tool calls, or longer arguments, than a client takes";
  }
  return "unknown";
}

std::optional<ToolFault> ToolFaultNamed(std::string_view name) {
  for (unsigned value = 1; value < kToolFaults; ++value) {
    if (Name(static_cast<ToolFault>(value)) == name) return static_cast<ToolFault>(value);
  }
  return std::nullopt;
}

void PrintTo(ToolFault fault, std::ostream* out) {
  *out << Name(fault);
}

std::uint64_t ToolFaultCounts::total() const {
  return std::accumulate(by_kind.begin(), by_kind.end(), std::uint64_t{0});
}

void ToolFaultCounts::Add(const ToolFaultCounts& more) {
  for (std::size_t kind = 0; kind < by_kind.size(); ++kind) by_kind[kind] += more.by_kind[kind];
  calls += more.calls;
  answers += more.answers;
  faulty += more.faulty;
}

ToolFaultBits ToolFaultCounts::bits() const {
  ToolFaultBits bits = 0;
  for (std::size_t kind = 1; kind < kToolFaults; ++kind) {
    if (by_kind[kind] > 0) bits |= static_cast<ToolFaultBits>(1u << kind);
  }
  return bits;
}

bool FaultyAnswers::any() const {
  return *this != FaultyAnswers{};
}

void FaultyAnswers::Add(ToolFaultBits answer) {
  for (std::size_t kind = 1; kind < kToolFaults; ++kind) by_kind[kind] += answer >> kind & 1u;
}

void FaultyAnswers::Add(const FaultyAnswers& more) {
  for (std::size_t kind = 1; kind < kToolFaults; ++kind) by_kind[kind] += more.by_kind[kind];
}

}  // namespace plimsoll
