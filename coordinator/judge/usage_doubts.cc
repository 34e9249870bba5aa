#include "coordinator/judge/usage_doubts.h"

#include <algorithm>
#include <cmath>

namespace plimsoll {

void UsageDoubts::Count(const CallRecord& record, std::uint32_t output_cap) {
  if (record.tokens_cached != kAbsentTokens && record.tokens_in != kAbsentTokens &&
      record.tokens_cached > record.tokens_in) {
    ++cached_over_prompt;
  }
  if (record.tokens_out == kAbsentTokens) return;
  const std::uint32_t cap = record.tokens_asked > 0 ? record.tokens_asked : output_cap;
  if (cap > 0 && record.tokens_out > cap) ++output_over_cap;
  if (OutputContradicted(record)) {
    record.tokens_out == 0 ? ++no_output : ++first_chunk_over;
    return;
  }
  if (Interactivity(record) > kRateBelievable) ++rate_unbelievable;
  if (record.chunks < 2) return;
  ++answers;
  chunks += record.chunks;
  tokens += record.tokens_out;
  const double off = std::abs(static_cast<double>(record.chunks) - record.tokens_out);
  if (off > std::max(kChunksUnlikeMin, kChunksUnlikeShare * record.tokens_out)) ++answers_unlike;
}

void UsageDoubts::Merge(const UsageDoubts& other) {
  no_output += other.no_output;
  first_chunk_over += other.first_chunk_over;
  output_over_cap += other.output_over_cap;
  cached_over_prompt += other.cached_over_prompt;
  rate_unbelievable += other.rate_unbelievable;
  answers += other.answers;
  answers_unlike += other.answers_unlike;
  chunks += other.chunks;
  tokens += other.tokens;
}

}  // namespace plimsoll
