// Every bound of the system, with its reason, in one place.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/time.h"

namespace plimsoll::limits {

// Tokens of a block: the trace format's block_size, and the unit of prompts and of the engine's
// cache.
inline constexpr std::uint32_t kBlockTokens = 64;
// Bytes of a token in generated prompts: a four-letter word and a space (design section 4).
inline constexpr std::uint32_t kTokenBytes = 5;
inline constexpr std::uint32_t kBlockBytes = kBlockTokens * kTokenBytes;

// A lane's number; one machine holds 9,000 lanes, and two of them are far beyond any real team.
inline constexpr std::uint32_t kLanesMax = 16'384;
inline constexpr std::uint32_t kAgentsMax = 10'000;
inline constexpr std::uint32_t kStepsMax = 64;
inline constexpr std::uint32_t kBlocksMax = 4096;
inline constexpr std::uint32_t kTiersMax = 8;

// A corpus of all 710 public sessions is 0.84 MB; 256 MB leaves room for corpora 300 times that.
inline constexpr std::size_t kCorpusBytesMax = std::size_t{256} << 20;
// A set of evals: some thousand cases.
inline constexpr std::size_t kEvalSetBytesMax = std::size_t{4} << 20;
inline constexpr std::uint32_t kEvalCasesMax = 1000;
// The longest prompt in the public traces has 894,371 tokens.
inline constexpr std::uint32_t kPromptTokensMax = 16u << 20;
inline constexpr std::uint32_t kCallsPerSessionMax = 100'000;

// A batch of records travels when it is this full or this old, so a report is at most a second
// behind.
inline constexpr std::size_t kBatchRecordsMax = 512;
inline constexpr Duration kBatchAgeMax = 500ms;
// Batches on the way without an ack; past it the agent keeps them in memory, bounded below.
inline constexpr std::uint32_t kBatchWindow = 64;
// Unacked batches kept by an agent before it says that records were lost.
inline constexpr std::uint32_t kBatchesKeptMax = 4096;
// gRPC's own default of 4 MiB for a message is below a corpus; chunks stay well under it.
inline constexpr std::size_t kCorpusChunkBytes = std::size_t{1} << 20;

// Liveness (design section 5).
inline constexpr Duration kHeartbeat = 1s;
inline constexpr Duration kAgentSuspect = 3s;
inline constexpr Duration kAgentLost = 15s;
inline constexpr Duration kDeadMan = 10s;
inline constexpr Duration kSkewMax = 100ms;
// A common start lies at least this far ahead, so that every agent hears of it in time.
inline constexpr Duration kStartAhead = 2s;

// Failure policy (design section 2).
inline constexpr std::uint32_t kAttemptsMax = 3;
inline constexpr Duration kBackOffMin = 1s;
inline constexpr Duration kBackOffMax = 30s;
// What a Retry-After can say at most, and is honoured by default: no window is longer.
inline constexpr Duration kRetryAfterMax = 24h;
// Of the server's answers that one session keeps for its live history, as JSON text: some 250,000
// tokens. The recorded sessions answer with 31,000 on average.
inline constexpr std::size_t kLiveHistoryBytesMax = std::size_t{1} << 20;

static_assert(kHeartbeat * 3 <= kAgentSuspect && kAgentSuspect < kDeadMan && kDeadMan < kAgentLost,
              "an agent stops by itself before the coordinator gives its lanes up");
static_assert(kCorpusChunkBytes < (std::size_t{4} << 20));

}  // namespace plimsoll::limits
