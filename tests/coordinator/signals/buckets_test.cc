// Limits and quantiles from counts at the edges of buckets.
#include "coordinator/signals/buckets.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

BucketCounts Counts(std::vector<double> edges, std::vector<std::uint64_t> at_most,
                    std::uint64_t n) {
  return {.edges = std::move(edges), .at_most = std::move(at_most), .n = n, .sum = 0};
}

TEST(Buckets, ALimitBetweenEdgesIsDecidedOnlyOutsideThem) {
  // vLLM's edges around a limit of 5.3 s.
  const auto resolved = [](std::uint64_t under5, std::uint64_t under7) {
    return CountAt(Counts({2.5, 5, 7.5, 10}, {0, under5, under7, 100}, 100), 5.3, 0.9).resolved;
  };
  EXPECT_EQ(resolved(90, 100), Resolved::kUnder);
  EXPECT_EQ(resolved(89, 90), Resolved::kBuckets);
  EXPECT_EQ(resolved(89, 100), Resolved::kBuckets);
  EXPECT_EQ(resolved(0, 89), Resolved::kOver);
  const LimitCounts at = CountAt(Counts({2.5, 5, 7.5, 10}, {1, 80, 95, 99}, 100), 5.3, 0.9);
  EXPECT_EQ(at.surely, 80u);
  EXPECT_EQ(at.possibly, 95u);
  EXPECT_EQ(at.edges, (LimitEdges{5, 7.5, true, true, false}));
}

TEST(Buckets, ALimitThatIsAnEdgeIsAlwaysDecided) {
  for (const std::uint64_t count : {0u, 50u, 89u, 90u, 100u}) {
    const LimitCounts at = CountAt(Counts({2.5, 5, 7.5}, {0, count, 100}, 100), 5, 0.9);
    EXPECT_TRUE(at.edges.exact);
    EXPECT_EQ(at.surely, count);
    EXPECT_EQ(at.possibly, count);
    EXPECT_EQ(at.resolved, count >= 90 ? Resolved::kUnder : Resolved::kOver) << count;
  }
  // 5,300 ms and 1 / (40 tok/s) are edges, whatever the arithmetic left of them.
  EXPECT_TRUE(EdgesAround(std::vector<double>{5300 * 0.001}, 5.3).exact);
  EXPECT_TRUE(EdgesAround(std::vector<double>{0.025}, 1.0 / 40).exact);
  EXPECT_FALSE(SameEdge(5, kInfinity));
  EXPECT_TRUE(SameEdge(kInfinity, kInfinity));
}

TEST(Buckets, WholeCountsAreNotSpoiledByRounding) {
  // 0.9 * n is not whole for any n in binary; 9 of 10 are 90% all the same.
  for (std::uint64_t n = 10; n < 100'000; n += 10) {
    const std::uint64_t nine = n / 10 * 9;
    ASSERT_EQ(CountAt(Counts({5}, {nine}, n), 5, 0.9).resolved, Resolved::kUnder) << n;
    ASSERT_EQ(CountAt(Counts({5}, {nine - 1}, n), 5, 0.9).resolved, Resolved::kOver) << n;
  }
}

TEST(Buckets, BeyondTheLastEdgeALimitCanBeKeptAndNeverMissed) {
  const BucketCounts mostly = Counts({1, 10}, {50, 95}, 100);
  EXPECT_EQ(CountAt(mostly, 12, 0.9).resolved, Resolved::kUnder);
  const BucketCounts saturated = Counts({1, 10}, {5, 50}, 100);
  EXPECT_EQ(CountAt(saturated, 12, 0.9).resolved, Resolved::kBuckets);
  const LimitEdges around = EdgesAround(saturated.edges, 12);
  EXPECT_TRUE(around.can_pass);
  EXPECT_FALSE(around.can_fail);
  // Below the first edge it is the reverse.
  EXPECT_FALSE(EdgesAround(saturated.edges, 0.5).can_pass);
  EXPECT_EQ(CountAt(saturated, 0.5, 0.9).resolved, Resolved::kOver);
  EXPECT_EQ(CountAt(mostly, 0.5, 0.9).resolved, Resolved::kOver);
  EXPECT_EQ(CountAt(Counts({1}, {95}, 100), 0.5, 0.9).resolved, Resolved::kBuckets);
}

TEST(Buckets, OpenRequestsCountBothWays) {
  // 184 of 198 within 5 s look like a pass; 44 are open.
  const BucketCounts counts = Counts({2.5, 5, 7.5}, {100, 184, 198}, 198);
  EXPECT_EQ(CountAt(counts, 5, 0.9).resolved, Resolved::kUnder);
  EXPECT_EQ(CountAt(counts, 5, 0.9, 44).resolved, Resolved::kOpen);
  EXPECT_EQ(CountAt(counts, 5, 0.9, 4).resolved, Resolved::kUnder);
  // Most are late already: the open ones cannot save it.
  EXPECT_EQ(CountAt(Counts({5}, {50}, 100), 5, 0.9, 10).resolved, Resolved::kOver);
  EXPECT_EQ(CountAt(Counts({5}, {0}, 0), 5, 0.9, 10).resolved, Resolved::kOpen);
  EXPECT_EQ(CountAt(Counts({5}, {0}, 0), 5, 0.9).resolved, Resolved::kNoData);
}

TEST(Buckets, BracketsAndEstimates) {
  const BucketCounts counts = Counts({2.5, 5, 7.5}, {100, 184, 195}, 198);
  const auto p90 = BracketOf(counts, 0.9);
  ASSERT_TRUE(p90.has_value());
  EXPECT_EQ(p90->lower, 2.5);
  EXPECT_EQ(p90->upper, 5);
  EXPECT_NEAR(p90->estimate, 2.5 + 2.5 * (178.2 - 100) / 84, 1e-12);
  EXPECT_FALSE(p90->is_floor);
  const auto first = BracketOf(counts, 0.1);
  EXPECT_EQ(first->lower, 0);
  EXPECT_EQ(first->upper, 2.5);
  const auto beyond = BracketOf(counts, 0.999);
  EXPECT_EQ(beyond->lower, 7.5);
  EXPECT_EQ(beyond->upper, kInfinity);
  EXPECT_EQ(beyond->estimate, 7.5);
  EXPECT_TRUE(beyond->is_floor);
  // With 44 open ones it lies anywhere from the best case to the worst.
  const auto open = BracketOf(counts, 0.9, 44);
  EXPECT_EQ(open->lower, 2.5);
  EXPECT_EQ(open->upper, kInfinity);
  // A first edge of 0 is legal.
  const auto zero = BracketOf(Counts({0, 1}, {95, 100}, 100), 0.9);
  EXPECT_EQ(zero->estimate, 0);
  EXPECT_EQ(zero->upper, 0);
  EXPECT_EQ(zero->lower, -kInfinity);
  EXPECT_EQ(BracketOf(Counts({0, 1}, {80, 100}, 100), 0.9)->estimate, 0.5);
  EXPECT_FALSE(BracketOf(Counts({5}, {0}, 0), 0.9).has_value());
  EXPECT_FALSE(BracketOf(Counts({}, {}, 5), 0.9).has_value());
}

TEST(Buckets, OnlyEqualEdgesMerge) {
  BucketCounts a = Counts({0.00015, 5}, {1, 2}, 3);
  EXPECT_TRUE(a.Merge(Counts({0.00015000000000000001, 5}, {10, 20}, 30)));
  EXPECT_EQ(a.at_most, (std::vector<std::uint64_t>{11, 22}));
  EXPECT_EQ(a.n, 33u);
  const BucketCounts before = a;
  EXPECT_FALSE(a.Merge(Counts({0.00015, 6}, {10, 20}, 30)));
  EXPECT_FALSE(a.Merge(Counts({0.00015}, {10}, 30)));
  EXPECT_EQ(a, before);
}

TEST(Buckets, WhatTheyDecideIsSaidBeforeAWindowIsSpent) {
  const std::vector<double> vllm = {2.5, 5, 7.5, 10};
  EXPECT_THAT(DecidabilityWords(vllm, 5.3, 0.9, "s"),
              AllOf(HasSubstr("5.3 s lies between the edges 5 and 7.5 s"), HasSubstr("P90"),
                    HasSubstr("limits of 5 s and 7.5 s can")));
  EXPECT_EQ(DecidabilityWords(vllm, 5, 0.9, "s"), "");
  EXPECT_THAT(DecidabilityWords(vllm, 12, 0.99, "s"),
              HasSubstr("never to miss it; limits of 10 s or less can"));
  EXPECT_THAT(DecidabilityWords(vllm, 1, 0.9, "s"),
              HasSubstr("never to keep it; limits of 2.5 s or more can"));
  EXPECT_THAT(DecidabilityWords({}, 1, 0.9, "s"), HasSubstr("no buckets"));
  EXPECT_THAT(DecidabilityWords(std::vector<double>{0, 1}, 0.1, 0.9, "tok/s", true),
              AllOf(HasSubstr("10 tok/s lies before the first edge"),
                    HasSubstr("limits of 1 tok/s or less can"), Not(HasSubstr("inf"))));
  EXPECT_THAT(DecidabilityWords(std::vector<double>{0.1, 1}, 2, 0.9, "tok/s", true),
              HasSubstr("limits of 1 tok/s or more can"));
  const std::vector<double> gateway = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15};
  EXPECT_EQ(DecidabilityWords(gateway, 1.0 / 10, 0.9, "tok/s", true), "");
  EXPECT_EQ(
      DecidabilityWords(gateway, 1.0 / 30, 0.9, "tok/s", true),
      "30 tok/s lies between the edges 40 and 20 tok/s: a P90 between them cannot be decided; "
      "limits of 40 tok/s and 20 tok/s can");
}

}  // namespace
}  // namespace plimsoll
