// A chat completion request, from its JSON to what the engine needs: lengths, keys and the prompt's
// blocks. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/prompt.h"

namespace plimsoll {

// Turns text into tokens, one for each word between white space, and every 64 of them into a block
// whose identity is the hash of all text up to its end: equal prefixes give equal blocks.
class PromptHasher {
 public:
  // Words do not run on from one text into the next.
  void Add(std::string_view text);
  std::uint32_t tokens() const { return tokens_; }
  // Full blocks only: a partial one is never cached.
  const std::vector<BlockSpan>& blocks() const { return blocks_; }

 private:
  void AddWord(std::string_view word);

  std::uint64_t chain_ = 0;
  std::uint32_t tokens_ = 0;
  std::vector<BlockSpan> blocks_;
};

struct ChatRequest {
  std::string model;
  bool stream = false;
  bool include_usage = false;               // stream_options.include_usage.
  std::optional<std::uint32_t> max_tokens;  // max_completion_tokens, else max_tokens.
  std::uint32_t min_tokens = 0;
  bool ignore_eos = false;
  bool has_switches = false;          // min_tokens or ignore_eos is there, whatever it says.
  bool has_tools = false;             // At least one is offered.
  std::uint32_t messages = 0;         // > 0.
  std::string tools_json;             // What is offered, as JSON; empty: nothing.
  std::uint64_t first_user_hash = 0;  // Of the first user message's text; 0: there is none.
  std::uint64_t last_user_hash = 0;   // Likewise, of the last one.
  PromptHasher prompt;
};

// kInvalidArgument says what is wrong with the body, for the caller's 400.
StatusOr<ChatRequest> ParseChatRequest(std::string_view body);

}  // namespace plimsoll
