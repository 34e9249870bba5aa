// What of a server's usage cannot be, or looks odd, counted over a step's ok calls: shown beside
// the verdict, never hidden and never smoothed over. They mean that a count or a clock is wrong.
#pragma once

#include <cstdint>

#include "common/record/call_record.h"

namespace plimsoll {

// By how much of its tokens the chunks of an answer may differ, and by how many at least, before it
// counts as unlike.
inline constexpr double kChunksUnlikeShare = 0.1;
inline constexpr double kChunksUnlikeMin = 2;
// Said by the suspicion list when more than this share of the answers is unlike.
inline constexpr double kAnswersUnlikeShareMax = 0.01;
// Tokens/s of one user that no engine reaches.
inline constexpr double kRateBelievable = 10'000;

struct UsageDoubts {
  // The output's count contradicts the stream: such a call has no interactivity.
  std::uint64_t no_output = 0;         // No output token counted, though one came.
  std::uint64_t first_chunk_over = 0;  // More tokens in the first chunk than in the whole answer.
  // The rest stays in every figure as it was reported.
  std::uint64_t output_over_cap = 0;     // More output than the request allowed.
  std::uint64_t cached_over_prompt = 0;  // More of the prompt cached than it has.
  std::uint64_t rate_unbelievable = 0;   // Interactivity over kRateBelievable.
  // Chunks read against tokens reported, of answers in two chunks or more.
  std::uint64_t answers = 0;
  std::uint64_t answers_unlike = 0;
  std::uint64_t chunks = 0;  // Over all these answers.
  std::uint64_t tokens = 0;

  // Counts an ok call. `output_cap` is what a request that asked for no length was allowed; 0: not
  // known.
  void Count(const CallRecord& record, std::uint32_t output_cap);
  // Adds the calls of `other`.
  void Merge(const UsageDoubts& other);
  std::uint64_t contradicted() const { return no_output + first_chunk_over; }
  friend bool operator==(const UsageDoubts&, const UsageDoubts&) = default;
};

}  // namespace plimsoll
