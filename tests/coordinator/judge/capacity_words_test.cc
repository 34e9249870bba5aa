// How a capacity is rounded and said, at sizes that no short sweep reaches.
#include "coordinator/judge/capacity_words.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(CapacityWords, OfManySessionsIsInWholeOnesRoundedDown) {
  const auto at = [](double sessions) { return CapacityEnd{.sessions = sessions}; };
  Capacity capacity;
  EXPECT_EQ(CapacityNumber(capacity), "no capacity");
  capacity.band = CapacityBand{.value = at(1234.57), .low = at(1104.96), .high = at(1999.99)};
  EXPECT_EQ(CapacityNumber(capacity), "1234.5 → 1234 sessions [1104–1999]");
  EXPECT_EQ(WholeSessions(*capacity.band), "1234 [1104–1999]");
  capacity.band = CapacityBand{.value = at(104.96), .low = at(104.96), .high = at(104.999)};
  EXPECT_EQ(CapacityNumber(capacity), "104.9 → 104 sessions [104–104]");
  EXPECT_EQ(
      PartsSentence({.parts = {{.limit = {.metric = Metric::kTtft, .quantile = 0.9, .value = 5},
                                .band = capacity.band}}}),
      "TTFT 104.9 [104–104]")
      << "in flight not known";
  const CapacityEnd most{.kind = CapacityEnd::Kind::kAtLeast, .sessions = 123456};
  capacity.band = CapacityBand{.value = most, .low = at(100000.5), .high = most};
  EXPECT_EQ(WholeSessions(*capacity.band), ">= 123456 [100000–open]");
  capacity.band = CapacityBand{.value = most, .low = most, .high = most};
  EXPECT_EQ(WholeSessions(*capacity.band), ">= 123456");
  const CapacityEnd under{.kind = CapacityEnd::Kind::kBelow, .sessions = 128};
  capacity.band = CapacityBand{.value = under, .low = under, .high = under};
  EXPECT_EQ(WholeSessions(*capacity.band), "< 128");
}

}  // namespace
}  // namespace plimsoll
