// One payload of a chat-completions stream (or a whole answer that was not streamed), reduced to
// what timing and accounting need. simdjson behind a fence; one parser and one padded buffer are
// reused for every payload.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/record/call_record.h"

namespace plimsoll {

enum class FinishReason : std::uint8_t {
  kNone,
  kStop,
  kLength,
  kToolCalls,
  kOther,
  kFailed,  // "error", "abort": the server gave up.
};

// Of two choices' reasons the one that tells more: a failure, else a cap, else the first.
FinishReason Stronger(FinishReason first, FinishReason second);

struct ChatUsage {  // Absent is not zero.
  std::uint32_t prompt = kAbsentTokens;
  std::uint32_t completion = kAbsentTokens;
  std::uint32_t cached = kAbsentTokens;     // Of the prompt, served from cache.
  std::uint32_t reasoning = kAbsentTokens;  // Of the completion.
  friend bool operator==(const ChatUsage&, const ChatUsage&) = default;
};

// One delta of one tool call. The texts live until the parser's next payload.
struct ToolCallPiece {
  std::uint32_t choice = 0;
  std::uint32_t index = kNoIndex;  // Of the call in its choice.
  bool has_id = false;             // Some servers number nothing, and begin each call with an id.
  std::string_view name;
  bool free_text = false;      // A custom tool's: its input is no JSON, and is not kept.
  std::string_view arguments;  // JSON as text; an object given outright is its own text.
  static constexpr std::uint32_t kNoIndex = 0xFFFFFFFFu;
};

struct ChatChunk {
  enum class Kind : std::uint8_t {
    kChunk,
    kDone,       // "[DONE]"
    kError,      // The server says that something went wrong; see the error fields.
    kMalformed,  // Not JSON, or not an object.
  };
  Kind kind = Kind::kMalformed;
  bool has_token = false;  // Non-empty content, reasoning, refusal or tool-call delta (any choice).
  bool answers = false;    // Of the token: content, refusal or tool call, not only reasoning.
  bool reasons = false;    // Of the token: reasoning.
  bool role_only = false;  // Announces a role and nothing else.
  bool tool_call = false;  // Part of a tool call.
  bool empty_tool_calls = false;  // A list of tool calls with nothing in it.
  bool has_choices = false;  // An array of them, perhaps empty: an answer, not some other JSON.
  bool has_usage = false;
  FinishReason finish = FinishReason::kNone;  // Of all choices, by Stronger().
  std::uint64_t choices = 0;                  // Bit i: choice i is in it (from 63 on: bit 63).
  std::uint64_t finished = 0;                 // Bit i: choice i has a finish reason.
  ChatUsage usage;
  std::vector<ToolCallPiece> tool_calls;  // In order.
  std::string error_message;
  std::string error_code;  // A number is written in decimals.
  std::string error_type;
  // Where the content of the first choice is appended; null: it is not kept. Parse() leaves this
  // pointer alone.
  std::string* content = nullptr;
};

class ChatChunkParser {
 public:
  ChatChunkParser();
  ~ChatChunkParser();
  ChatChunkParser(const ChatChunkParser&) = delete;
  ChatChunkParser& operator=(const ChatChunkParser&) = delete;

  // Replaces *chunk; its strings' memory is reused. Any bytes are fine as input.
  void Parse(std::string_view payload, ChatChunk* chunk);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plimsoll
