// The prompt of one call as block spans and messages: what agent/prompt turns into text and what
// the engine model's prefix cache compares. A pure function of (session, call, keys).
//
// All the text of a stream lies on one line of tokens: block b covers tokens [64 b, 64 b + 64). A
// span names consecutive blocks of that line; a message is a half-open range of tokens. Neither
// holds text.
#pragma once

#include <cstdint>
#include <vector>

#include "common/corpus/session.h"

namespace plimsoll {

// `count` consecutive blocks with the identities (key, first), (key, first + 1), … Two blocks have
// the same text exactly when their identities are equal.
struct BlockSpan {
  std::uint64_t key = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const BlockSpan&, const BlockSpan&) = default;
};

enum class Role : std::uint8_t { kSystem, kUser, kAssistant };

struct MessageRange {
  Role role = Role::kUser;
  std::uint32_t first_token = 0;
  std::uint32_t end_token = 0;  // > first_token.
  friend bool operator==(const MessageRange&, const MessageRange&) = default;
};

struct Prompt {
  std::uint32_t tokens = 0;      // Equals the recorded tokens_in.
  std::vector<BlockSpan> spans;  // Cover ceil(tokens / 64) blocks; the last may be cut by `tokens`.
  std::vector<MessageRange> messages;  // Adjacent, from 0 to `tokens`; the last is the user's.
};

// Keys that decide which prompts share text.
struct PromptKeys {
  std::uint64_t play = 0;  // Salts everything of one play: f(run nonce, lane, play).
  std::uint64_t run = 0;   // Salts the prefix shared by users of one class within one run.
};

// Looks up prompts of one session. Building one walks the chain of references, O(calls) at worst.
class PromptIndex {
 public:
  explicit PromptIndex(const Session& session);  // `session` outlives it.

  // Replaces *prompt (its vectors are reused). call < session.calls.size().
  void Build(std::size_t call, const PromptKeys& keys, Prompt* prompt) const;

 private:
  const Session& session_;
  std::vector<std::uint32_t> first_fresh_id_;  // Of each call: ordinal of its first fresh block.
  std::vector<std::uint32_t> tail_id_;         // Of each call: block whose beginning is its tail.
  std::vector<std::int32_t> previous_;  // Of each call: the call before it in its stream, or -1.
};

}  // namespace plimsoll
