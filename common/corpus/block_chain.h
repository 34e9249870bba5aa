// Turns the block ids of a trace into references: each prompt becomes (earlier call, blocks kept).
// Checks on the way that the ids are one prefix chain: every id has one predecessor and one
// position, so that "seen before" and "prefix seen before" are the same thing.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/base/status.h"

namespace plimsoll {

class BlockChain {
 public:
  struct Link {
    std::int32_t ref = -1;
    std::uint32_t kept_blocks = 0;
  };

  // The ids of the next call, in replay order, and of the call before it in its stream (-1: none).
  // Link.ref is the earlier call with the longest common prefix: the previous call of the stream if
  // none is longer, else the call that brought the last block kept. An error names the position.
  StatusOr<Link> Add(std::vector<std::uint32_t> ids, std::int32_t previous);

 private:
  struct Block {
    std::uint32_t predecessor;  // Unused at position 0.
    std::uint32_t position;
    std::int32_t call;  // That brought it.
  };

  std::unordered_map<std::uint32_t, Block> blocks_;
  std::vector<std::vector<std::uint32_t>> calls_;
};

}  // namespace plimsoll
