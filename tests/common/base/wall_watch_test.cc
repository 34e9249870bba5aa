#include "common/base/wall_watch.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

class TwoClocks final : public Clock {
 public:
  MonoTime MonoNow() const override { return mono; }
  WallTime WallNow() const override { return wall; }
  void Pass(Duration time) {
    mono += time;
    wall += time;
  }
  MonoTime mono{5s};
  WallTime wall{1'700'000'000s};
};

TEST(WallWatch, ClocksThatGoTogetherHaveNotMoved) {
  TwoClocks clocks;
  WallWatch watch(clocks);
  clocks.Pass(300s);
  watch.Look();
  EXPECT_EQ(watch.moved(), Duration{0});
}

TEST(WallWatch, AStepIsSeenWithItsSign) {
  TwoClocks clocks;
  WallWatch watch(clocks);
  clocks.Pass(10s);
  clocks.wall += 3s;
  watch.Look();
  EXPECT_EQ(watch.moved(), Duration(3s));
  watch.Reset();
  clocks.wall -= 7s;
  watch.Look();
  EXPECT_EQ(watch.moved(), Duration(-7s));
}

TEST(WallWatch, TheFurthestOfAllLooksCounts) {
  TwoClocks clocks;
  WallWatch watch(clocks);
  clocks.wall -= 2s;
  watch.Look();
  clocks.wall += 2s;  // Set back again.
  watch.Look();
  EXPECT_EQ(watch.moved(), Duration(-2s));
}

TEST(WallWatch, AMachineThatStoodStillShowsToo) {
  TwoClocks clocks;
  WallWatch watch(clocks);
  clocks.wall += 20s;  // Suspended: the monotonic clock stands.
  watch.Look();
  EXPECT_EQ(watch.moved(), Duration(20s));
}

TEST(WallWatch, AClockSetByYearsIsADay) {
  TwoClocks clocks;
  WallWatch watch(clocks);
  clocks.wall = WallTime{};
  watch.Look();
  EXPECT_EQ(watch.moved(), Duration(-24h));
}

}  // namespace
}  // namespace plimsoll
