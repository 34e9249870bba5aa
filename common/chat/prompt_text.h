// The text of a prompt's blocks: f(key, id), 64 words of four letters and a space, so a block is
// always 320 bytes and an offset in the text is five times an offset in tokens. Nothing is stored:
// any piece of a prompt is generated where it is wanted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/limits.h"
#include "common/corpus/prompt.h"

namespace plimsoll {

// Writes the limits::kBlockBytes bytes of the block with identity (key, id).
void WriteBlockText(std::uint64_t key, std::uint32_t id, char* to);

// Reads the text of a prompt's line of blocks, in order. Reading forward is O(bytes); going back
// starts over.
class PromptReader {
 public:
  explicit PromptReader(const Prompt& prompt) : prompt_(&prompt) {}  // `prompt` outlives it.

  // Copies bytes [offset, offset + count) of the line; they lie within the prompt's spans.
  void Read(std::uint64_t offset, char* to, std::size_t count);

 private:
  const BlockSpan& SpanOf(std::uint64_t block);  // Moves span_ to the block's.

  const Prompt* prompt_;
  std::size_t span_ = 0;
  std::uint64_t span_first_ = 0;  // The line's block with which span_ begins.
  std::uint64_t cached_block_ = UINT64_MAX;
  char cached_[limits::kBlockBytes] = {};  // Of a block that was read in part.
};

}  // namespace plimsoll
