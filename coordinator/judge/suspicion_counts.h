// What the suspicion list looks at and no verdict needs: counted by coordinator/ingest over a step,
// beside the rest of its evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace plimsoll {

// One block of the measured time, over all lanes.
struct BlockFigures {
  std::uint32_t block = 0;
  std::uint64_t ttft_n = 0;  // Calls with a first token, first released in the block.
  std::int64_t ttft_p50_ns = 0;
  friend bool operator==(const BlockFigures&, const BlockFigures&) = default;
};

struct SuspicionCounts {
  std::uint64_t warm_up_attempts = 0;   // Released in the warm-up.
  std::uint64_t measured_attempts = 0;  // Released in the measured time.
  // Of attempts released in the measured time: those with HTTP 429, 503 or a Retry-After whose
  // outcome is ok, and another failure than "refused".
  std::uint64_t refusals_ok = 0;
  std::uint64_t refusals_failed = 0;
  // Their outcome says ok and their status is no 2xx; "refused" and it is neither 429 nor 503.
  std::uint64_t ok_with_other_status = 0;
  std::uint64_t refused_with_other_status = 0;
  // Over ok calls whose usage says the cached tokens and whose cache hits the trace predicts:
  // prompt tokens as planned and of them those that earlier calls brought; prompt tokens as
  // reported and of them the cached ones.
  std::uint64_t cache_n = 0;
  std::uint64_t tokens_planned = 0;
  std::uint64_t tokens_predicted = 0;
  std::uint64_t tokens_reported = 0;
  std::uint64_t tokens_cached = 0;
  std::vector<BlockFigures> blocks{};  // Ascending; only those with a first token.
  // How far the coordinator's wall clock moved against its monotonic clock from the step's start to
  // its end. Absent: not measured.
  std::optional<std::int64_t> wall_moved_ns{};
  friend bool operator==(const SuspicionCounts&, const SuspicionCounts&) = default;

  // A step that extends this one of `own_blocks`: its calls count on, its warm-up was this one's
  // measured time.
  void Extend(const SuspicionCounts& later, std::uint32_t own_blocks) {
    measured_attempts += later.measured_attempts;
    refusals_ok += later.refusals_ok;
    refusals_failed += later.refusals_failed;
    ok_with_other_status += later.ok_with_other_status;
    refused_with_other_status += later.refused_with_other_status;
    cache_n += later.cache_n;
    tokens_planned += later.tokens_planned;
    tokens_predicted += later.tokens_predicted;
    tokens_reported += later.tokens_reported;
    tokens_cached += later.tokens_cached;
    for (BlockFigures block : later.blocks) {
      block.block += own_blocks;
      blocks.push_back(block);
    }
    if (later.wall_moved_ns) wall_moved_ns = wall_moved_ns.value_or(0) + *later.wall_moved_ns;
  }
};

}  // namespace plimsoll
