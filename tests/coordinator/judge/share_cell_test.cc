// Slices of time, and what is seen from one to the next.
#include "coordinator/judge/share_cell.h"

#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "coordinator/judge/spread.h"

namespace plimsoll {
namespace {

// `calls` of each of `lanes` in each half-block of `blocks`.
std::vector<ShareCell> Halves(std::uint32_t lanes, std::uint32_t blocks, std::uint64_t calls) {
  std::vector<ShareCell> cells;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (std::uint32_t at = 0; at < 2 * blocks; ++at) {
      cells.push_back(
          {.lane = lane, .block = at / 2, .n = calls, .half = static_cast<std::uint8_t>(at % 2)});
    }
  }
  return cells;
}

TEST(Slices, AreHalfBlocksOfABlockOfAMinute) {
  for (const std::uint64_t calls : {1u, 20u}) {
    const auto cells = Halves(3, 5, calls);
    const Slices slices(cells, 30s);
    EXPECT_EQ(slices.size(), 10u);
    for (const ShareCell& cell : cells) EXPECT_EQ(slices.Of(cell), cell.block * 2 + cell.half);
  }
}

TEST(Slices, OfShortBlocksLastAsLongAsALaneTakesToItsNextCall) {
  // Of 40 half-blocks of 3 s a lane calls in every fourth: once in 12 s.
  std::vector<ShareCell> cells;
  for (const ShareCell& cell : Halves(4, 20, 1)) {
    if ((cell.block * 2 + cell.half) % 4 == 1) cells.push_back(cell);
  }
  EXPECT_EQ(Slices(cells, 3s).size(), 9u) << "from the first block with a call to the last";
  EXPECT_EQ(Slices(Halves(4, 20, 1), 3s).size(), 40u);
  EXPECT_EQ(Slices(Halves(4, 20, 9), 3s).size(), 40u) << "never shorter than a half-block";
}

TEST(Slices, AreNeverLongerThanHalfAMinute) {
  // Each of two lanes calls once in 100 half-blocks of 3 s.
  std::vector<ShareCell> cells = Halves(2, 50, 0);
  for (ShareCell& cell : cells) {
    if ((cell.lane == 0 && cell.block == 0) || (cell.lane == 1 && cell.block == 49)) {
      cell.n = cell.half;
    }
  }
  EXPECT_EQ(Slices(cells, 3s).size(), 10u);
}

TEST(Slices, AreInOrderAndAsEvenAsMayBe) {
  std::vector<ShareCell> cells = Halves(1, 10, 1);
  for (ShareCell& cell : cells) cell.n = (cell.block + cell.half) % 2;
  const Slices slices(cells, 5s);  // Ten calls in 20 half-blocks: two halves each.
  ASSERT_EQ(slices.size(), 10u);
  std::size_t last = 0;
  for (const ShareCell& cell : cells) {
    EXPECT_GE(slices.Of(cell), last);
    EXPECT_LE(slices.Of(cell), last + 1);
    last = slices.Of(cell);
  }
  EXPECT_EQ(last, 9u);
}

TEST(Slices, WithoutACallThereIsNone) {
  EXPECT_EQ(Slices({}, 30s).size(), 0u);
  EXPECT_EQ(Slices(Halves(3, 3, 0), 30s).size(), 0u);
  EXPECT_EQ(Slices(Halves(3, 3, 1), Duration{0}).size(), 6u);
}

std::map<std::uint32_t, std::vector<double>> Numbered(
    const std::vector<std::vector<double>>& lanes) {
  std::map<std::uint32_t, std::vector<double>> numbered;
  for (const auto& lane : lanes) {
    numbered[static_cast<std::uint32_t>(numbered.size())] = lane;
  }
  return numbered;
}

TEST(Together, IsNothingWhereEachLaneGoesItsOwnWay) {
  Rng rng(20260301);
  double sum = 0;
  double alone = 0;
  for (int run = 0; run < 200; ++run) {
    std::vector<std::vector<double>> lanes(10, std::vector<double>(10));
    for (auto& lane : lanes) {
      for (double& residual : lane) {
        residual = rng.Normal();
        alone += residual * residual / 200;
      }
    }
    sum += Together(Numbered(lanes)).variance / 200;
  }
  // Values below 0 count as none, so that the mean is a little above.
  EXPECT_LT(sum, 0.35 * alone);
}

TEST(Together, FindsTheVarianceOfWhatLanesShare) {
  Rng rng(20260302);
  double sum = 0;
  for (int run = 0; run < 400; ++run) {
    std::vector<std::vector<double>> lanes(10, std::vector<double>(10));
    for (std::size_t h = 0; h < 10; ++h) {
      const double shared = rng.Normal();
      for (auto& lane : lanes) lane[h] = shared + 5;  // What lasts is not seen.
    }
    const VarianceTerm term = Together(Numbered(lanes));
    EXPECT_NEAR(term.degrees, 2 * 81.0 / 26, 1e-12);
    sum += term.variance / 400;
  }
  // Over ten slices ten lanes add up to 10² · 10, of which what each does alone is a tenth.
  EXPECT_NEAR(sum, 1.3 * 900, 120) << "seed 20260302";
}

TEST(Together, FewerThanFourSlicesTellNothing) {
  for (std::size_t slices = 0; slices < 4; ++slices) {
    EXPECT_EQ(Together(Numbered(std::vector(5, std::vector<double>(slices)))).degrees, 0);
  }
  EXPECT_EQ(Together({}).degrees, 0);
  EXPECT_GT(Together(Numbered(std::vector(5, std::vector<double>(4)))).degrees, 2);
}

}  // namespace
}  // namespace plimsoll
