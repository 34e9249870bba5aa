// The clock that a rehearsal moves: by how much, when, and what it leaves alone.
#include "coordinator/rehearse/moved_clock.h"

#include <cstdio>
#include <fstream>
#include <string>

#include <unistd.h>

#include "common/base/wall_watch.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(MovedClock, WithoutSettingsItIsTheSystemsOwn) {
  const MovedClock clock({});
  const RealClock real;
  const WallTime before = real.WallNow();
  const WallTime now = clock.WallNow();
  EXPECT_GE(now, before);
  EXPECT_LE(now, real.WallNow());
}

TEST(MovedClock, BeginsWhereItIsTold) {
  const MovedClock clock({.wall_from_s = 1'792'889'994});
  const Duration since = clock.WallNow().time_since_epoch() - std::chrono::seconds(1'792'889'994);
  EXPECT_GE(since, Duration{0});
  EXPECT_LT(since, 60s);
}

TEST(MovedClock, JumpsOnceItsFileIsThereAndIsSeenToJump) {
  const std::string path = ::testing::TempDir() + "plimsoll-step-" + std::to_string(::getpid());
  const MovedClock clock({.wall_step = -1h, .wall_step_file = path});
  WallWatch watch(clock);
  watch.Look();
  EXPECT_GT(watch.moved(), -30min);
  std::ofstream(path).put('x');
  const MonoTime mono = clock.MonoNow();
  watch.Look();
  EXPECT_LT(watch.moved(), -59min);
  EXPECT_LT(clock.MonoNow() - mono, 60s) << "what is monotonic goes on";
  std::remove(path.c_str());
  watch.Look();
  EXPECT_LT(clock.WallNow() - RealClock().WallNow(), -59min) << "it does not jump back";
}

}  // namespace
}  // namespace plimsoll
