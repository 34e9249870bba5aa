// The prompt of one call as block spans and messages: what common/chat turns into text and what
// the engine model's prefix cache compares. A pure function of (session, call, keys).
//
// All the text of a stream lies on one line of tokens: block b covers tokens [64 b, 64 b + 64). A
// span names consecutive blocks of that line; a message is a half-open range of tokens. Neither
// holds text.
#pragma once

#include <cstddef>
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

// An assistant's message of a prompt: which call it answers. A later call may have cut it.
struct AnswerRange {
  std::uint32_t message = 0;  // Index into Prompt::messages.
  std::uint32_t call = 0;     // Index into Session::calls.
  std::uint32_t tokens = 0;   // Of the whole answer, as first sent; >= the message's own.
  friend bool operator==(const AnswerRange&, const AnswerRange&) = default;
};

// Keys that decide which prompts share text.
struct PromptKeys {
  std::uint64_t play = 0;  // Salts everything of one play: f(run nonce, lane, play).
  std::uint64_t run = 0;   // Salts the prefix shared by users of one class within one run.
};

// Looks up prompts of one session. Building one walks the chain of references, O(calls) at worst.
//
// Identities: blocks of a stream's first prompt below its prefix_blocks are the class's, (key of
// run and class, position); all others are the play's, (keys.play, ordinal of the fresh block over
// the session). A tail has the identity of the block that completes it in a later call. Messages:
// [system] prefix, then what each call of the chain appended, the answer to the call before it as
// the assistant's and the rest as the user's. A call that keeps its ref whole has its ref's
// messages as a prefix of its own; a cut inside a message shortens it.
class PromptIndex {
 public:
  // `session` outlives it and passes ValidateSession().
  explicit PromptIndex(const Session& session);

  // Replaces *prompt (its vectors are reused). call < session.calls.size(). O(chain), and free of
  // allocation once the vectors are large enough.
  // `answers`, unless null, is replaced by the assistant's messages, in order.
  void Build(std::size_t call, const PromptKeys& keys, Prompt* prompt,
             std::vector<AnswerRange>* answers = nullptr) const;

 private:
  // What Build() needs of one call, side by side. Positions are blocks or tokens of the prompt.
  struct Node {
    std::int32_t ref = -1;
    std::uint32_t stream = 0;
    std::uint32_t tokens = 0;
    std::uint32_t blocks = 0;  // Full ones.
    std::uint32_t kept_blocks = 0;
    std::uint32_t first_fresh = 0;   // Ordinal of its first fresh block in the session.
    std::uint32_t class_blocks = 0;  // Its fresh blocks below have the text of the class.
    std::uint32_t system_end = 0;    // The system message is [0, system_end) tokens.
    std::uint32_t begin = 0;         // Its own messages begin here: an answer, then the user's.
    std::uint32_t answer_end = 0;
    std::int32_t tail_stream = -1;  // Stream whose class the tail's text is of; -1: the play's.
    std::uint32_t tail_id = 0;      // Block whose beginning is the tail.
  };

  void PlaceMessages(std::size_t call, std::int32_t previous,
                     std::vector<std::int32_t>* continuation);
  bool EndsInUserMessage(std::size_t call, std::uint32_t tokens) const;
  void PlaceTail(std::size_t call, std::int32_t continuation);
  std::uint64_t ClassKey(std::uint32_t stream, const PromptKeys& keys) const;

  const Session& session_;
  std::vector<Node> nodes_;
};

}  // namespace plimsoll
