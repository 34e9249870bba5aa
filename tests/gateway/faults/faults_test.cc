// Which faults strike when: rules, seed, number and time decide, nothing else.
#include "gateway/faults/faults.h"

#include <vector>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(Faults, StrikeInTheirTimeOnly) {
  const std::vector<FaultRule> rules = {{.at = 20s, .span = 10s}};
  EXPECT_EQ(FaultFor(rules, 1, 1, {19999ms, 0s}), nullptr);
  EXPECT_EQ(FaultFor(rules, 1, 1, {20s, 0s}), &rules[0]);
  EXPECT_EQ(FaultFor(rules, 1, 1, {29999ms, 0s}), &rules[0]);
  EXPECT_EQ(FaultFor(rules, 1, 1, {30s, 0s}), nullptr);
}

TEST(Faults, WithoutAnEndGoOnForEver) {
  const std::vector<FaultRule> rules = {{.at = 20s}};
  EXPECT_EQ(FaultFor(rules, 1, 1, {Duration::max(), 0s}), &rules[0]);
}

TEST(Faults, MayCountFromTheFirstRequest) {
  const std::vector<FaultRule> rules = {{.at = 5s, .from_first_request = true}};
  EXPECT_EQ(FaultFor(rules, 1, 1, {100s, std::nullopt}), nullptr);
  EXPECT_EQ(FaultFor(rules, 1, 1, {104s, 100s}), nullptr);
  EXPECT_EQ(FaultFor(rules, 1, 1, {105s, 100s}), &rules[0]);
}

TEST(Faults, FollowTheirProbabilityAndSeed) {
  const std::vector<FaultRule> rules = {{.probability = 0.2}, {.probability = 0.5}};
  int first = 0;
  int second = 0;
  int differ = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    const FaultRule* fault = FaultFor(rules, 1, n, {});
    first += fault == &rules[0];
    second += fault == &rules[1];
    EXPECT_EQ(fault, FaultFor(rules, 1, n, {}));
    differ += fault != FaultFor(rules, 2, n, {});
  }
  EXPECT_NEAR(first, 2000, 150);
  EXPECT_NEAR(second, 4000, 200);
  EXPECT_GT(differ, 1000);
}

TEST(Faults, CrashIsKnownBeforehandUnlessByChance) {
  const std::vector<FaultRule> rules = {
      {.kind = FaultKind::kCrash, .at = 30s},
      {.kind = FaultKind::kCrash, .at = 5s, .from_first_request = true},
      {.kind = FaultKind::kCrash, .at = 1s, .probability = 0.5},
      {.kind = FaultKind::kRefuse}};
  EXPECT_EQ(CrashAt(rules, std::nullopt), Duration(30s));
  EXPECT_EQ(CrashAt(rules, 10s), Duration(15s));
  EXPECT_EQ(CrashAt(rules, 28s), Duration(30s));
  EXPECT_EQ(CrashAt({}, 10s), std::nullopt);
}

TEST(Faults, HtmlHasItsTimeToo) {
  const std::vector<FaultRule> rules = {{.kind = FaultKind::kHtml, .at = 2s, .span = 1s}};
  EXPECT_FALSE(HtmlAt(rules, {1s, std::nullopt}));
  EXPECT_TRUE(HtmlAt(rules, {2s, std::nullopt}));
  EXPECT_FALSE(HtmlAt(rules, {3s, std::nullopt}));
}

}  // namespace
}  // namespace plimsoll
