// The tool calls of one answer as values, put together from what was streamed, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/sse/chat_chunk.h"

namespace plimsoll {

struct ToolCall {
  std::string name;
  std::string arguments;   // JSON as text, as it came.
  bool has_id = false;     // The server gave it an id.
  bool free_text = false;  // A custom tool's: its input is no JSON, and is not kept.
};

// What an answer holds, and announces, of tool calls.
struct ToolAnswer {
  std::vector<ToolCall> calls;      // In order of appearance, of all choices.
  bool too_large = false;           // More than is kept; what is beyond is dropped.
  bool finished_for_calls = false;  // Finish reason tool_calls.
  // Deltas brought lists of calls with nothing in them, and neither content nor a call ever came.
  bool only_empty_lists = false;
  bool cut = false;  // The output cap was reached: what is unfinished is not the server's fault.
};

// Usage: Begin(); Add() for every piece of every chunk; calls() at the end.
class ToolCallCollector {
 public:
  static constexpr std::size_t kCallsMax = 64;
  // Of all calls of an answer together, names included. A client that is sent more has given up.
  static constexpr std::size_t kBytesMax = std::size_t{256} << 10;

  void Begin();  // Forgets the answer before.
  // As ToolCallPiece says; where a server numbers nothing, an id or a name begins another call.
  void Add(const ToolCallPiece& piece);

  bool any() const { return !calls_.empty(); }
  bool too_large() const { return too_large_; }
  // The calls so far; the collector is left as after Begin().
  std::vector<ToolCall> Take();

 private:
  struct Place {  // Of the call with the same index in calls_.
    std::uint32_t choice = 0;
    std::uint32_t index = 0;
  };
  ToolCall* CallOf(const ToolCallPiece& piece);
  void Append(std::string_view text, std::string* to);

  std::vector<ToolCall> calls_;
  std::vector<Place> places_;
  std::size_t bytes_ = 0;
  bool too_large_ = false;
};

}  // namespace plimsoll
