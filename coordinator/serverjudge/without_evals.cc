#include "coordinator/serverjudge/without_evals.h"

#include <algorithm>
#include <cmath>

namespace plimsoll {
namespace {

// How many of `count` fall to each of `held`: no more than it has, and in all no more than there
// are.
std::vector<std::uint64_t> Split(std::uint64_t count, const std::vector<std::uint64_t>& held) {
  std::uint64_t all = 0;
  for (const std::uint64_t one : held) all += one;
  const double part =
      all == 0 ? 0 : static_cast<double>(std::min(count, all)) / static_cast<double>(all);
  std::vector<std::uint64_t> split;
  std::uint64_t seen = 0;
  std::uint64_t given = 0;
  for (const std::uint64_t one : held) {
    seen += one;
    const auto until =
        seen == all ? std::min(count, all)
                    : static_cast<std::uint64_t>(std::floor(static_cast<double>(seen) * part));
    split.push_back(std::min(one, until - std::min(until, given)));
    given += split.back();
  }
  return split;
}

}  // namespace

void TakeOut(std::uint64_t hits, std::uint64_t misses, std::vector<BlockCount>* blocks) {
  std::vector<std::uint64_t> hit;
  std::vector<std::uint64_t> missed;
  for (BlockCount& block : *blocks) {
    block.hits = std::min(block.hits, block.n);
    hit.push_back(block.hits);
    missed.push_back(block.n - block.hits);
  }
  const std::vector<std::uint64_t> hits_out = Split(hits, hit);
  const std::vector<std::uint64_t> misses_out = Split(misses, missed);
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    (*blocks)[i].hits -= hits_out[i];
    (*blocks)[i].n -= hits_out[i] + misses_out[i];
  }
}

void TurnToHits(std::uint64_t count, std::vector<BlockCount>* blocks) {
  if (blocks->empty()) return;
  std::vector<std::uint64_t> missed;
  for (const BlockCount& block : *blocks) missed.push_back(block.n - std::min(block.hits, block.n));
  const std::vector<std::uint64_t> turned = Split(count, missed);
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    (*blocks)[i].hits += turned[i];
    count -= std::min(count, turned[i]);
  }
  blocks->back().n += count;
  blocks->back().hits += count;
}

}  // namespace plimsoll
