// Lanes by highest averages, sessions by rotation, keys and start points: what
// tests/sim/schedule_test.cc does not already see in whole runs.
#include "common/plan/lanes.h"

#include <algorithm>
#include <map>
#include <set>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

std::vector<TierPlan> Tiers(const std::vector<std::uint32_t>& shares) {
  std::vector<TierPlan> tiers;
  tiers.reserve(shares.size());
  for (const std::uint32_t share : shares) {
    tiers.push_back({.name = std::to_string(tiers.size()),
                     .tier = tiers.empty() ? Tier::kHeavy : Tier::kLight,
                     .share = share});
  }
  return tiers;
}

std::string TiersOf(const std::vector<TierPlan>& tiers, std::uint32_t lanes) {
  const std::vector<std::uint32_t> slots = {0};
  std::string order;
  for (const LaneSpec& lane : AssignLanes(tiers, lanes, slots)) order += std::to_string(lane.tier);
  return order;
}

TEST(AssignLanes, FollowsTheDivisorsWithTiesToTheTierNamedFirst) {
  EXPECT_EQ(TiersOf(Tiers({1, 1}), 6), "010101");
  EXPECT_EQ(TiersOf(Tiers({1, 1, 1}), 6), "012012");
  EXPECT_EQ(TiersOf(Tiers({3, 1}), 8), "00100010");  // 3, 1, 1/1 = 3/3: the first named one.
  EXPECT_EQ(TiersOf(Tiers({1}), 4), "0000");
  EXPECT_EQ(TiersOf(Tiers({4'000'000'000u, 4'000'000'000u}), 4), "0101") << "no overflow";
  EXPECT_EQ(TiersOf(Tiers({1, 2}), 0), "");
}

TEST(AssignLanes, NLanesAreTheFirstNOfMoreAndATiersAgentsTakeTurns) {
  const std::vector<std::uint32_t> slots = {0, 1, 2};
  const auto many = AssignLanes(Tiers({5, 3, 1}), 60, slots);
  for (const std::uint32_t n : {1u, 7u, 59u}) {
    const auto few = AssignLanes(Tiers({5, 3, 1}), n, slots);
    EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
  }
  for (const LaneSpec& lane : many) {
    EXPECT_EQ(lane.agent_slot, (lane.rank + lane.tier) % 3) << "each tier begins one further";
    EXPECT_EQ(lane.first_play, 0u);
  }
}

Corpus CorpusOf(std::size_t heavy, std::size_t light) {
  Corpus corpus;
  for (std::size_t i = 0; i < heavy + light; ++i) {
    Session s;
    s.tier = i < heavy ? Tier::kHeavy : Tier::kLight;
    s.calls = {{.tokens_in = static_cast<std::uint32_t>(1000 * (i + 1))}};
    corpus.sessions.push_back(s);
  }
  return corpus;
}

TEST(SessionRotation, StaysInItsTierAndKnowsAnEmptyOne) {
  const Corpus corpus = CorpusOf(7, 5);
  const SessionRotation rotation(corpus, Tiers({1, 1}), 3);
  EXPECT_EQ(rotation.sessions(0), 7u);
  EXPECT_EQ(rotation.sessions(1), 5u);
  for (std::uint32_t rank = 0; rank < 20; ++rank) {
    for (std::uint32_t play : {0u, 1u, 2u, 1u << 20, ~0u}) {
      EXPECT_LT(*rotation.SessionFor(0, rank, play), 7u);
      EXPECT_GE(*rotation.SessionFor(1, rank, play), 7u);
    }
  }
  const Corpus none = CorpusOf(3, 0);
  EXPECT_FALSE(SessionRotation(none, Tiers({1, 1}), 3).SessionFor(1, 0, 0).has_value());
}

TEST(SessionRotation, AnyFewLanesAndAnyFewPlaysSpreadOverTheSizes) {
  // By quarters of the ranking; corpus order is order of size.
  const Corpus corpus = CorpusOf(64, 0);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const SessionRotation rotation(corpus, Tiers({1}), seed);
    for (const std::uint32_t from : {0u, 5u, 40u}) {
      std::map<std::uint32_t, int> by_rank;
      std::map<std::uint32_t, int> by_play;
      for (std::uint32_t i = from; i < from + 8; ++i) {
        ++by_rank[*rotation.SessionFor(0, i, 0) / 16];
        ++by_play[*rotation.SessionFor(0, 3, i) / 16];
      }
      for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
        EXPECT_GE(by_rank[quarter], 1) << "seed " << seed << ", ranks from " << from;
        EXPECT_LE(by_rank[quarter], 3) << "seed " << seed << ", ranks from " << from;
        EXPECT_GE(by_play[quarter], 1) << "seed " << seed << ", plays from " << from;
        EXPECT_LE(by_play[quarter], 3) << "seed " << seed << ", plays from " << from;
      }
    }
  }
}

TEST(Keys, DifferByPlayLaneAndRunAndShareTheRunsPrefixUnlessIsolated) {
  RunPlan plan;
  plan.nonce = 5;
  std::set<std::uint64_t> plays;
  for (std::uint32_t lane = 0; lane < 50; ++lane) {
    for (std::uint32_t play = 0; play < 50; ++play) {
      plays.insert(KeysFor(plan, lane, play).play);
      EXPECT_EQ(KeysFor(plan, lane, play).run, KeysFor(plan, 0, 0).run);
    }
  }
  EXPECT_EQ(plays.size(), 2500u);
  RunPlan other = plan;
  other.nonce = 6;
  EXPECT_NE(KeysFor(other, 0, 0).play, KeysFor(plan, 0, 0).play);
  EXPECT_NE(KeysFor(other, 0, 0).run, KeysFor(plan, 0, 0).run);
  other = plan;
  other.seed = 99;
  EXPECT_EQ(KeysFor(other, 0, 0).play, KeysFor(plan, 0, 0).play) << "the seed salts no prompt";
  plan.isolate_prefixes = true;
  EXPECT_EQ(KeysFor(plan, 1, 2).run, KeysFor(plan, 1, 2).play);
}

TEST(StartShare, IsUniformOverTheMiddleHalf) {
  double sum = 0;
  double least = 1;
  double most = 0;
  constexpr std::uint32_t kLanes = 4000;
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const double share = StartShare(42, lane, 0);
    sum += share;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  EXPECT_GE(least, 0.25);
  EXPECT_LT(most, 0.75);
  EXPECT_LT(least, 0.252);
  EXPECT_GT(most, 0.748);
  EXPECT_NEAR(sum / kLanes, 0.5, 0.01);
}

}  // namespace
}  // namespace plimsoll
