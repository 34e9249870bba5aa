// When which case is asked: the mini run asks each as often, the trickle keeps its share, and both
// depend on the seed and the lane alone.
#include "common/evals/eval_schedule.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(MiniRun, AsksEachCaseOncePerRepeat) {
  const auto turns = MiniRun(72, 3, 42);
  ASSERT_EQ(turns.size(), 216u);
  for (std::uint32_t repeat = 0; repeat < 3; ++repeat) {
    std::set<std::uint32_t> cases;
    for (std::uint32_t i = 0; i < 72; ++i) {
      EXPECT_EQ(turns[repeat * 72 + i].repeat, repeat);
      cases.insert(turns[repeat * 72 + i].case_index);
    }
    EXPECT_EQ(cases.size(), 72u);
    EXPECT_EQ(*cases.rbegin(), 71u);
  }
  EXPECT_EQ(turns, MiniRun(72, 3, 42));
  EXPECT_NE(turns, MiniRun(72, 3, 43));
  EXPECT_NE(turns[0], turns[72]) << "each repeat has an order of its own";
  EXPECT_TRUE(MiniRun(72, 0, 1).empty());
  EXPECT_EQ(MiniRun(1, 2, 1).size(), 2u);
}

TEST(EvalTrickle, KeepsItsShareAtEveryMoment) {
  for (const double share : {0.005, 0.02, 0.1, 0.2}) {
    const EvalTrickle trickle(72, share, 7);
    for (std::uint32_t lane = 0; lane < 5; ++lane) {
      for (const std::uint64_t calls : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{50},
                                        std::uint64_t{977}, std::uint64_t{100'000}}) {
        const double expected = ExpectedEvals(static_cast<double>(calls), share);
        EXPECT_NEAR(static_cast<double>(trickle.TurnsDue(lane, calls)), expected,
                    1.0001 + share / (1 - share))
            << share << " " << lane << " " << calls;
      }
    }
  }
}

TEST(EvalTrickle, TurnsAreDueInOrderAndCountedRight) {
  const EvalTrickle trickle(10, 0.07, 3);
  std::uint64_t before = 0;
  for (std::uint64_t turn = 0; turn < 500; ++turn) {
    const std::uint64_t due = trickle.DueAfter(4, turn);
    EXPECT_GE(due, std::max<std::uint64_t>(before, 1));
    EXPECT_GT(trickle.TurnsDue(4, due), turn);
    EXPECT_LE(trickle.TurnsDue(4, due - 1), turn);
    before = due;
  }
}

TEST(EvalTrickle, LanesAreNotInStep) {
  const EvalTrickle trickle(72, 0.02, 11);
  std::set<std::uint64_t> first;
  double sum = 0;
  for (std::uint32_t lane = 0; lane < 200; ++lane) {
    first.insert(trickle.DueAfter(lane, 0));
    sum += static_cast<double>(trickle.DueAfter(lane, 0));
  }
  EXPECT_GT(first.size(), 25u) << "over a stretch of 49 calls";
  EXPECT_NEAR(sum / 200, 1 + 49 / 2.0, 4);
}

TEST(EvalTrickle, CasesAreAskedAboutAsOften) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const EvalTrickle trickle(72, 0.02, seed);
    for (const std::uint32_t lanes : {10u, 15u, 100u}) {
      std::vector<int> asked(72);
      constexpr std::uint64_t kTurns = 8;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        for (std::uint64_t turn = 0; turn < kTurns; ++turn) {
          ++asked[trickle.At(lane, turn).case_index];
        }
      }
      const double mean = lanes * static_cast<double>(kTurns) / 72;
      const auto [least, most] = std::minmax_element(asked.begin(), asked.end());
      EXPECT_LE(*most, std::ceil(mean) + 2) << "seed " << seed << " lanes " << lanes;
      EXPECT_GE(*least, std::floor(mean) - 2) << "seed " << seed << " lanes " << lanes;
    }
    // One lane asks all before it asks one again.
    std::set<std::uint32_t> cases;
    for (std::uint64_t turn = 0; turn < 72; ++turn) cases.insert(trickle.At(3, turn).case_index);
    EXPECT_EQ(cases.size(), 72u);
  }
}

TEST(EvalTrickle, IsAFunctionOfSeedAndLane) {
  const EvalTrickle a(72, 0.02, 5);
  const EvalTrickle again(72, 0.02, 5);
  const EvalTrickle other(72, 0.02, 6);
  bool differs = false;
  for (std::uint64_t turn = 0; turn < 50; ++turn) {
    EXPECT_EQ(a.DueAfter(9, turn), again.DueAfter(9, turn));
    EXPECT_EQ(a.At(9, turn), again.At(9, turn));
    EXPECT_LT(a.At(16'383, turn).case_index, 72u);
    differs = differs || a.DueAfter(9, turn) != other.DueAfter(9, turn);
  }
  EXPECT_TRUE(differs);
}

TEST(EvalShare, IsATrickle) {
  EXPECT_TRUE(CheckEvalShare(0.02).ok());
  EXPECT_TRUE(CheckEvalShare(kEvalShareMax).ok());
  for (const double share : {0.0, -0.1, 0.21, std::nan("")}) {
    EXPECT_FALSE(CheckEvalShare(share).ok()) << share;
  }
  EXPECT_EQ(MessageOf(CheckEvalShare(0.5)), "evals are 0.01% to 20% of all requests");
}

}  // namespace
}  // namespace plimsoll
