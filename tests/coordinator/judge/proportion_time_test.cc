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

// As much lies in the slow half of the step, but it comes and goes slowly: the path's own drift.
TEST(ShareOf, WhatChangesSlowlyIsThePathsAndNoError) {
  const auto with_misses = [](const auto& of_slice) {
    std::vector<ShareCell> cells;
    for (ShareCell cell : Grid(15, 8, 100, 100)) {
      for (const std::uint8_t half : {std::uint8_t{0}, std::uint8_t{1}}) {
        cell.half = half;
        cell.hits = 100 - of_slice(cell.block * 2 + half);
        cells.push_back(cell);
      }
    }
    return ShareOf(cells);
  };
  const ShareInterval slow = with_misses([](std::uint32_t h) { return h; });
  const ShareInterval quick = with_misses([](std::uint32_t h) { return h * 7 % 16; });
  EXPECT_EQ(slow.share, quick.share);
  EXPECT_GT(quick.design_effect, 10 * slow.design_effect);
}

// The same calls, cut into blocks of another length: what a person chooses decides nothing.
TEST(ShareOf, TheBlocksLengthDecidesNothing) {
  const auto cut_by = [](std::uint32_t halves_a_slice) {
    std::vector<ShareCell> cells;
    for (std::uint32_t lane = 0; lane < 15; ++lane) {
      for (std::uint32_t at = 0; at < 10 * halves_a_slice; ++at) {
        const std::uint32_t slice = at / halves_a_slice;
        cells.push_back({.lane = lane,
                         .block = at / 2,
                         .n = 60 / halves_a_slice,
                         .hits = (slice * 7 % 10 < 3 ? 40u : 60u) / halves_a_slice,
                         .half = static_cast<std::uint8_t>(at % 2)});
      }
    }
    return ShareOf(cells, {.half_block = 30s / halves_a_slice});
  };
  const ShareInterval minutes = cut_by(1);
  const ShareInterval quarters = cut_by(4);
  EXPECT_GT(minutes.design_effect, 10);
  // A lane calls twice a second: what lasts a slice is seen in shorter ones too, and a change of
  // 30 s then looks slower.
  EXPECT_NEAR(quarters.share, minutes.share, 1e-12);
  EXPECT_GT(quarters.design_effect, 1.5);
}

}  // namespace
}  // namespace plimsoll
