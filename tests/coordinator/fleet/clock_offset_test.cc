// The offset between two clocks, from round trips with random delays on either way.
#include "coordinator/fleet/clock_offset.h"

#include "common/base/rng.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(ClockOffset, IsAbsentBeforeTheFirstSample) {
  EXPECT_FALSE(ClockOffset().estimate().has_value());
}

TEST(ClockOffset, TheTrueOffsetLiesWithinTheUncertainty) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    const Duration truth = FromMillis(static_cast<std::int64_t>(rng.Below(600'000)) - 300'000);
    ClockOffset clock;
    Duration shortest = 1h;
    MonoTime now(1000s);
    for (int i = 0; i < 16; ++i) {
      const Duration out(static_cast<std::int64_t>(rng.Below(5'000'000)));
      const Duration back(static_cast<std::int64_t>(rng.Below(5'000'000)));
      clock.Add(now, now + out + back, now + out + truth);
      shortest = std::min(shortest, out + back);
      now += 1s;
    }
    const auto estimate = clock.estimate();
    ASSERT_TRUE(estimate.has_value());
    EXPECT_EQ(estimate->uncertainty, shortest / 2) << "seed " << seed;
    EXPECT_LE(std::chrono::abs(estimate->offset - truth), estimate->uncertainty + 1ns)
        << "seed " << seed;
  }
}

TEST(ClockOffset, ForgetsWhatIsOlderThanSixteenSamples) {
  ClockOffset clock;
  const auto add = [&](Duration round, Duration truth) {
    clock.Add(MonoTime(0s), MonoTime(0s) + round, MonoTime(0s) + round / 2 + truth);
  };
  add(1ms, 5s);  // The best one, with an offset that has drifted since.
  for (int i = 0; i < 15; ++i) add(4ms, 6s);
  EXPECT_EQ(clock.estimate()->offset, Duration(5s));
  add(4ms, 6s);
  EXPECT_EQ(clock.estimate()->offset, Duration(6s));
  EXPECT_EQ(clock.estimate()->uncertainty, Duration(2ms));
}

}  // namespace
}  // namespace plimsoll
