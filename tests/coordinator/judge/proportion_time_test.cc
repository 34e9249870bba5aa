// What the share's interval makes of calls that resemble each other because they wait together.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "coordinator/judge/proportion.h"
#include "tests/coordinator/judge/share_cells.h"

namespace plimsoll {
namespace {

using testing::Grid;

TEST(ShareOf, NegativeVarianceOverTimeCountsAsNone) {
  // Latin pattern: every lane and every block has the same share, the cells differ.
  std::vector<ShareCell> cells;
  for (std::uint32_t lane = 0; lane < 10; ++lane) {
    for (std::uint32_t block = 0; block < 10; ++block) {
      cells.push_back({lane, block, 10, (lane + block) % 10 == 0 ? 0u : 10u});
    }
  }
  const ShareInterval interval = ShareOf(cells);
  EXPECT_EQ(interval.share, 0.9);
  EXPECT_EQ(interval.design_effect, 1);
  EXPECT_TRUE(std::isfinite(interval.low) && std::isfinite(interval.high));
  EXPECT_LT(interval.low, 0.9);
  EXPECT_GT(interval.high, 0.9);
}

TEST(ShareOf, BlocksThatDifferWidenTheInterval) {
  std::vector<ShareCell> uneven = Grid(15, 5, 10, 10);
  for (ShareCell& cell : uneven) {
    if (cell.block == 4) cell.hits = 5;
  }
  EXPECT_GT(ShareOf(uneven).design_effect, 10);
}

// A queue that lanes wait in together: half of one half-block's calls miss.
TEST(ShareOf, AHalfBlockThatDiffersWidensTheInterval) {
  std::vector<ShareCell> cells;
  for (ShareCell cell : Grid(15, 5, 10, 10)) {
    for (const std::uint8_t half : {std::uint8_t{0}, std::uint8_t{1}}) {
      cell.half = half;
      cell.hits = cell.block == 2 && half == 1 ? 5 : 10;
      cells.push_back(cell);
    }
  }
  const ShareInterval together = ShareOf(cells);
  EXPECT_GT(together.design_effect, 10);
  EXPECT_LT(together.degrees, 10) << "nine half-blocks say little of such a queue";
  // The same misses at another time in each lane are the lanes' own.
  for (ShareCell& cell : cells) {
    cell.hits = cell.lane % 5 == cell.block && cell.half == cell.lane % 2 ? 5 : 10;
  }
  EXPECT_EQ(ShareOf(cells).share, together.share);
  EXPECT_LT(ShareOf(cells).design_effect, 2);
}

TEST(ShareOf, NeighbouringHalvesThatAgreeCountMoreThanApart) {
  const auto with_misses_in = [](std::uint32_t first, std::uint32_t second) {
    std::vector<ShareCell> cells;
    for (ShareCell cell : Grid(15, 8, 10, 10)) {
      for (const std::uint8_t half : {std::uint8_t{0}, std::uint8_t{1}}) {
        const std::uint32_t at = cell.block * 2 + half;
        cell.half = half;
        cell.hits = at == first || at == second ? 5 : 10;
        cells.push_back(cell);
      }
    }
    return ShareOf(cells);
  };
  const ShareInterval neighbours = with_misses_in(7, 8);  // Over a block's end.
  const ShareInterval apart = with_misses_in(3, 12);
  EXPECT_EQ(neighbours.share, apart.share);
  EXPECT_GT(neighbours.design_effect, 1.3 * apart.design_effect);
}

}  // namespace
}  // namespace plimsoll
