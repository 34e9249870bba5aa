// Cells for tests of the share's interval.
#pragma once

#include <cstdint>
#include <vector>

#include "coordinator/judge/proportion.h"

namespace plimsoll::testing {

// The same counts in the first half of each block of each lane.
inline std::vector<ShareCell> Grid(std::uint32_t lanes, std::uint32_t blocks, std::uint64_t n,
                                   std::uint64_t hits) {
  std::vector<ShareCell> cells;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (std::uint32_t block = 0; block < blocks; ++block) cells.push_back({lane, block, n, hits});
  }
  return cells;
}

}  // namespace plimsoll::testing
