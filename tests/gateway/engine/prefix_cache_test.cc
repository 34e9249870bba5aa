// The prefix cache against a plain model (a set of prefixes), and its cost.
#include "gateway/engine/prefix_cache.h"

#include <algorithm>
#include <set>
#include <vector>

#include "common/base/rng.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using Spans = std::vector<BlockSpan>;

std::uint32_t CountOf(const Spans& spans) {
  std::uint32_t count = 0;
  for (const BlockSpan& s : spans) count += s.count;
  return count;
}

// One request that comes and goes: what it found cached.
std::uint32_t Pass(PrefixCache& cache, const Spans& spans) {
  const std::uint32_t count = CountOf(spans);
  const PrefixCache::Match match = cache.Find(spans, count);
  cache.Acquire(match.node);
  EXPECT_TRUE(cache.Reserve(count - match.blocks));
  cache.Release(cache.Insert(match.node, spans, match.blocks, count));
  return match.blocks;
}

TEST(PrefixCache, FindsTheLongestPrefixAcrossRuns) {
  PrefixCache cache(1000);
  EXPECT_EQ(Pass(cache, {{1, 0, 10}, {2, 0, 20}}), 0u);
  EXPECT_EQ(Pass(cache, {{1, 0, 10}, {2, 0, 20}}), 30u);
  EXPECT_EQ(Pass(cache, {{1, 0, 10}, {2, 0, 15}, {3, 0, 5}}), 25u);  // Diverges inside a run.
  EXPECT_EQ(Pass(cache, {{1, 0, 4}}), 4u);
  EXPECT_EQ(Pass(cache, {{1, 1, 4}}), 0u);  // Another beginning is another prefix.
  EXPECT_EQ(cache.cached_blocks(), 30u + 5 + 4);
  EXPECT_EQ(cache.held_blocks(), 0u);
}

TEST(PrefixCache, RunsCutDifferentlyAreTheSameBlocks) {
  PrefixCache cache(1000);
  Pass(cache, {{1, 0, 3}, {1, 3, 7}, {1, 10, 2}});
  EXPECT_EQ(Pass(cache, {{1, 0, 12}}), 12u);
  EXPECT_EQ(cache.nodes(), 1u);
}

TEST(PrefixCache, GrowingConversationOfThreeRunsCostsAFewVisitsACall) {
  PrefixCache cache(100'000);
  for (std::uint32_t turn = 0; turn < 500; ++turn) {
    Pass(cache, {{1, 0, 200}, {2, 0, 300}, {3, 0, 1500 + 10 * turn}});
  }
  EXPECT_LE(cache.visits(), 500u * 8);
  EXPECT_EQ(cache.nodes(), 3u);
}

TEST(PrefixCache, HeldPrefixesAreNotEvicted) {
  PrefixCache cache(100);
  Pass(cache, {{1, 0, 40}});
  const Spans held = {{1, 0, 30}};
  const PrefixCache::Match match = cache.Find(held, 30);
  cache.Acquire(match.node);
  EXPECT_EQ(cache.held_blocks(), 30u);
  EXPECT_FALSE(cache.Reserve(71));
  EXPECT_EQ(cache.cached_blocks(), 40u);
  EXPECT_TRUE(cache.Reserve(70));
  EXPECT_EQ(cache.cached_blocks(), 30u);
  cache.Unreserve(70);
  cache.Release(match.node);
  EXPECT_EQ(Pass(cache, {{1, 0, 40}}), 30u);
}

TEST(PrefixCache, SharedLeafDoesNotGrowUnderAnotherHolder) {
  PrefixCache cache(100);
  Pass(cache, {{1, 0, 10}});
  const Spans longer = {{1, 0, 20}};
  const PrefixCache::Match one = cache.Find(longer, 20);
  const PrefixCache::Match two = cache.Find(longer, 20);
  cache.Acquire(one.node);
  cache.Acquire(two.node);
  ASSERT_TRUE(cache.Reserve(10));
  cache.Release(cache.Insert(one.node, longer, 10, 20));
  EXPECT_EQ(cache.held_blocks(), 10u);  // The second still holds its ten, and only those.
  ASSERT_TRUE(cache.Reserve(90));
  EXPECT_EQ(cache.cached_blocks(), 10u);
  cache.Unreserve(90);
  cache.Release(two.node);
}

// Block-by-block model: the set of cached prefixes. Without eviction both must agree exactly; with
// it, the cache may hold less but never a hole and never more than it has.
TEST(PrefixCache, AgreesWithAPlainModelOnRandomTrees) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    PrefixCache large(1'000'000);
    PrefixCache small(300);
    std::set<std::vector<std::pair<std::uint64_t, std::uint32_t>>> model;
    for (int i = 0; i < 400; ++i) {
      Spans spans;
      const std::uint64_t depth = 1 + rng.Below(3);
      for (std::uint64_t d = 0; d < depth; ++d) {
        spans.push_back({rng.Below(3), static_cast<std::uint32_t>(rng.Below(2)) * 5,
                         static_cast<std::uint32_t>(1 + rng.Below(12))});
      }
      std::vector<std::pair<std::uint64_t, std::uint32_t>> prefix;
      std::uint32_t expected = 0;
      for (const BlockSpan& s : spans) {
        for (std::uint32_t b = 0; b < s.count; ++b) {
          prefix.emplace_back(s.key, s.first + b);
          if (!model.insert(prefix).second) ++expected;
        }
      }
      ASSERT_EQ(Pass(large, spans), expected) << "call " << i;
      ASSERT_EQ(large.cached_blocks(), model.size());
      ASSERT_LE(Pass(small, spans), expected);
      ASSERT_LE(small.cached_blocks(), 300u);
      ASSERT_EQ(small.held_blocks(), 0u);
      ASSERT_EQ(Pass(small, spans), CountOf(spans));
    }
  }
}

}  // namespace
}  // namespace plimsoll
