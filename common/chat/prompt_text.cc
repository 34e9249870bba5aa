#include "common/chat/prompt_text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/base/check.h"
#include "common/base/rng.h"
#include "common/chat/words.h"

namespace plimsoll {
namespace {

static_assert(limits::kTokenBytes == 5 && limits::kBlockTokens % 2 == 0);

// Word and space as the low five bytes of an integer, so that a word is one store of eight bytes,
// whose last three the next word overwrites.
struct Word {
  char bytes[8];
};
constexpr std::array<Word, kWordCount> MakeTable() {
  std::array<Word, kWordCount> table{};
  for (std::size_t i = 0; i < kWordCount; ++i) {
    for (std::size_t j = 0; j < limits::kTokenBytes; ++j) {
      table[i].bytes[j] = kWords[limits::kTokenBytes * i + j];
    }
  }
  return table;
}
constexpr std::array<Word, kWordCount> kTable = MakeTable();

// Uniform choice by multiplication; the bias is below kWordCount / 2^32.
const Word& Pick(std::uint32_t draw) {
  return kTable[(std::uint64_t{draw} * kWordCount) >> 32];
}

}  // namespace

void WriteBlockText(std::uint64_t key, std::uint32_t id, char* to) {
  const std::uint64_t seed = MixKey(key, id);
  constexpr std::uint32_t kPairs = limits::kBlockTokens / 2;
  for (std::uint32_t i = 0; i + 1 < kPairs; ++i) {
    const std::uint64_t draw = Mix64(seed + i);
    std::memcpy(to, Pick(static_cast<std::uint32_t>(draw)).bytes, 8);
    std::memcpy(to + 5, Pick(static_cast<std::uint32_t>(draw >> 32)).bytes, 8);
    to += 10;
  }
  const std::uint64_t draw = Mix64(seed + kPairs - 1);
  std::memcpy(to, Pick(static_cast<std::uint32_t>(draw)).bytes, 8);
  std::memcpy(to + 5, Pick(static_cast<std::uint32_t>(draw >> 32)).bytes, 5);
}

void PromptReader::Read(std::uint64_t offset, char* to, std::size_t count) {
  while (count > 0) {
    const std::uint64_t block = offset / limits::kBlockBytes;
    const std::size_t within = static_cast<std::size_t>(offset % limits::kBlockBytes);
    const std::size_t take = std::min<std::size_t>(count, limits::kBlockBytes - within);
    if (take == limits::kBlockBytes) {
      const BlockSpan& span = SpanOf(block);
      WriteBlockText(span.key, span.first + static_cast<std::uint32_t>(block - span_first_), to);
    } else {
      if (cached_block_ != block) {
        const BlockSpan& span = SpanOf(block);
        WriteBlockText(span.key, span.first + static_cast<std::uint32_t>(block - span_first_),
                       cached_);
        cached_block_ = block;
      }
      std::memcpy(to, cached_ + within, take);
    }
    offset += take;
    to += take;
    count -= take;
  }
}

const BlockSpan& PromptReader::SpanOf(std::uint64_t block) {
  if (block < span_first_) span_ = span_first_ = 0;
  while (true) {
    PLIMSOLL_CHECK(span_ < prompt_->spans.size());
    const BlockSpan& span = prompt_->spans[span_];
    if (block - span_first_ < span.count) return span;
    span_first_ += span.count;
    ++span_;
  }
}

}  // namespace plimsoll
