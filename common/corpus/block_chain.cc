#include "common/corpus/block_chain.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace plimsoll {
namespace {

std::size_t CommonPrefix(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  // Nine steps of ten only append.
  if (shorter == 0 || std::memcmp(a.data(), b.data(), shorter * sizeof(a[0])) == 0) return shorter;
  const auto end = a.begin() + static_cast<std::ptrdiff_t>(shorter);
  return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

}  // namespace

StatusOr<BlockChain::Link> BlockChain::Add(std::vector<std::uint32_t> ids, std::int32_t previous) {
  const auto own = static_cast<std::int32_t>(calls_.size());
  std::size_t common = 0;
  if (previous >= 0) common = CommonPrefix(calls_[static_cast<std::size_t>(previous)], ids);
  // What it shares with a checked call needs no second check.
  Link link{.ref = common > 0 ? previous : -1, .kept_blocks = static_cast<std::uint32_t>(common)};
  for (std::size_t i = common; i < ids.size(); ++i) {
    const std::uint32_t predecessor = i == 0 ? 0 : ids[i - 1];
    const auto position = static_cast<std::uint32_t>(i);
    const auto [at, is_new] = blocks_.try_emplace(ids[i], Block{predecessor, position, own});
    if (is_new) continue;
    const Block& block = at->second;
    if (block.position != position) {
      return absl::InvalidArgumentError(
          fmt::format("hash_ids[{}]: broken chain: id {} stood at position {} before", i, ids[i],
                      block.position));
    }
    if (i > 0 && block.predecessor != predecessor) {
      return absl::InvalidArgumentError(
          fmt::format("hash_ids[{}]: broken chain: id {} follows {} here and followed {} before", i,
                      ids[i], predecessor, block.predecessor));
    }
    // Its predecessor is the one it had before, so everything in front of it was seen too.
    link.ref = block.call;
    link.kept_blocks = position + 1;
  }
  calls_.push_back(std::move(ids));
  return link;
}

}  // namespace plimsoll
