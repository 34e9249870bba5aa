// Bounds of messages on the wire that nothing else in the system knows of, with their reasons; the
// shared ones are in common/base/limits.h. Named in the comments of proto/plimsoll/v1.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/limits.h"
#include "common/base/time.h"
#include "common/record/tally.h"

namespace plimsoll::wire {

// Names that people gave: agents, tiers, models, header names, environment variables.
inline constexpr std::size_t kNameBytesMax = 256;
inline constexpr std::size_t kUrlBytesMax = 2048;
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr std::size_t kHeaderValueBytesMax = 8192;  // Common servers refuse longer ones.
inline constexpr std::size_t kHeadersMax = 64;
inline constexpr std::size_t kExtraBodyBytesMax = 16'384;  // Sampling parameters, not prompts.
// A reason in words; longer ones are cut by the writer.
inline constexpr std::size_t kTextBytesMax = 4096;
inline constexpr std::size_t kCorporaHeldMax = 4096;
// Those that stand alone, and one for each block.
inline constexpr std::size_t kFailedPlaysMax = FailedPlays::kAloneMax + limits::kBlocksMax;
// More than a lane can play in a window.
inline constexpr std::uint64_t kCallsOfLaneMax = std::uint64_t{1} << 40;
// Longer than any window; its sums with any stamp stay far from overflow.
inline constexpr Duration kSpanMax = 720h;
// Instants of a monotonic clock: differences of two such never overflow.
inline constexpr std::int64_t kInstantMaxNs = std::int64_t{1} << 61;

}  // namespace plimsoll::wire
