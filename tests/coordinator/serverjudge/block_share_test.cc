#include "coordinator/serverjudge/block_share.h"

#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

std::vector<BlockCount> Even(int blocks, std::uint64_t n, std::uint64_t hits) {
  return std::vector<BlockCount>(static_cast<std::size_t>(blocks), BlockCount{n, hits});
}

TEST(BlockShareTest, WithoutObservationsNothingIsKnown) {
  for (const std::vector<BlockCount>& blocks : {Even(0, 0, 0), Even(5, 0, 0)}) {
    const ShareInterval interval = ShareOverBlocks(blocks, 15);
    EXPECT_EQ(interval.n, 0u);
    EXPECT_EQ(interval.low, 0);
    EXPECT_EQ(interval.high, 1);
    EXPECT_EQ(SmallShareOverBlocks(blocks, 15).high, 1);
  }
}

TEST(BlockShareTest, BlocksThatAreAlikeStillCarryWhatSessionsDo) {
  const ShareInterval interval = ShareOverBlocks(Even(5, 120, 112), 15);
  EXPECT_EQ(interval.design_effect, SessionsEffect(600, 15));
  EXPECT_EQ(interval.degrees, 4);
  EXPECT_NEAR(interval.share, 0.9333, 1e-4);
  EXPECT_LT(interval.low, interval.share);
  EXPECT_GT(interval.high, interval.share);
}

TEST(BlockShareTest, BlocksThatDifferWidenTheInterval) {
  const ShareInterval alike = ShareOverBlocks(Even(5, 100, 92), 15);
  const ShareInterval apart =
      ShareOverBlocks({{100, 100}, {100, 100}, {100, 60}, {100, 100}, {100, 100}}, 15);
  EXPECT_DOUBLE_EQ(alike.share, apart.share);
  EXPECT_GT(apart.design_effect, 10);
  EXPECT_LT(apart.low, 0.8);
  EXPECT_GT(alike.low, 0.8);
}

TEST(BlockShareTest, OfOneOrTwoBlocksOnlyWhatIsClearIsDecided) {
  for (const int blocks : {1, 2}) {
    const std::uint64_t n = 600 / static_cast<std::uint64_t>(blocks);
    EXPECT_LT(ShareOverBlocks(Even(blocks, n, n * 93 / 100), 15).low, 0.9);
    EXPECT_LT(ShareOverBlocks(Even(blocks, n, n / 2), 15).high, 0.9);
    EXPECT_GT(SmallShareOverBlocks(Even(blocks, n, 0), 15).high, 0.02);
    EXPECT_GT(SmallShareOverBlocks(Even(blocks, n, n / 4), 15).low, 0.02);
  }
}

TEST(BlockShareTest, AllOnOneSideIsNotCertainty) {
  EXPECT_LT(ShareOverBlocks(Even(5, 6, 6), 15).low, 0.9);
  EXPECT_GT(ShareOverBlocks(Even(5, 120, 120), 15).low, 0.9);
  EXPECT_GT(SmallShareOverBlocks(Even(5, 30, 0), 15).high, 0.02);
  EXPECT_LT(SmallShareOverBlocks(Even(5, 40, 0), 15).high, 0.02);
}

TEST(BlockShareTest, ManyCallsASessionAreWorthFewerUpToABound) {
  EXPECT_EQ(SessionsEffect(150, 15), 2);
  EXPECT_DOUBLE_EQ(SessionsEffect(15 * 40, 15), 5);
  EXPECT_EQ(SessionsEffect(1'000'000, 15), kSessionsEffectMax);
  EXPECT_EQ(SessionsEffect(0, 0), 2);
  EXPECT_GT(ShareOverBlocks(Even(5, 144, 130), 15).high,
            ShareOverBlocks(Even(5, 144, 130), 60).high);
}

TEST(BlockShareTest, HitsBeyondTheirBlockAreNotCounted) {
  EXPECT_EQ(ShareOverBlocks({{10, 20}, {10, 10}, {10, 10}}, 15).hits, 30u);
}

}  // namespace
}  // namespace plimsoll
