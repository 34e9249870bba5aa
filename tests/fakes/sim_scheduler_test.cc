// SimScheduler: order, cancelling, and how virtual time moves.
#include "tests/fakes/sim_scheduler.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/rng.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;

MonoTime T(Duration d) {
  return MonoTime{} + d;
}

TEST(SimScheduler, RunsTimersByDueThenByOrderOfArming) {
  SimScheduler sim;
  std::vector<int> ran;
  const Timer c = sim.After(2s, [&] { ran.push_back(3); });
  const Timer a = sim.After(1s, [&] { ran.push_back(1); });
  const Timer b = sim.After(1s, [&] { ran.push_back(2); });
  sim.RunUntil(T(1s));
  EXPECT_THAT(ran, ElementsAre(1, 2));
  EXPECT_EQ(sim.Now(), T(1s));
  sim.Advance(1s);
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
}

TEST(SimScheduler, PostRunsAtTheSameInstantAfterWhatIsQueued) {
  SimScheduler sim;
  std::vector<int> ran;
  const Timer a = sim.After(1s, [&] {
    ran.push_back(1);
    sim.Post([&] { ran.push_back(3); });
  });
  const Timer b = sim.After(1s, [&] { ran.push_back(2); });
  EXPECT_TRUE(sim.RunUntilIdle());
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
  EXPECT_EQ(sim.Now(), T(1s));
}

TEST(SimScheduler, OverdueTimerRunsInTheNextTurnNotInThePast) {
  SimScheduler sim(T(10s));
  MonoTime at{};
  const Timer late = sim.At(T(3s), [&] { at = sim.Now(); });
  EXPECT_EQ(at, MonoTime{});
  sim.RunUntil(T(10s));
  EXPECT_EQ(at, T(10s));
}

TEST(SimScheduler, CancelledTaskNeverRunsAndDiesAtOnce) {
  SimScheduler sim;
  const auto held = std::make_shared<int>(1);
  Timer timer = sim.After(1s, [held] { FAIL(); });
  EXPECT_EQ(held.use_count(), 2);
  timer.Cancel();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(sim.pending(), 0u);
  EXPECT_TRUE(sim.RunUntilIdle());
}

TEST(SimScheduler, OldIdDoesNotCancelTheSlotsNextTimer) {
  SimScheduler sim;
  int ran = 0;
  Timer old = sim.After(1s, [&] { ++ran; });
  sim.Advance(1s);
  const Timer next = sim.After(1s, [&] { ++ran; });
  old.Cancel();
  sim.Advance(1s);
  EXPECT_EQ(ran, 2);
}

TEST(SimScheduler, TaskMayReplaceItsOwnTimer) {
  SimScheduler sim;
  Timer tick;
  int ran = 0;
  std::function<void()> again = [&] {
    if (++ran < 5) tick = sim.After(1s, again);
  };
  tick = sim.After(1s, again);
  EXPECT_TRUE(sim.RunUntilIdle());
  EXPECT_EQ(ran, 5);
  EXPECT_EQ(sim.Now(), T(5s));
}

TEST(SimScheduler, RunUntilIdleStopsAtTheLimit) {
  SimScheduler sim;
  const Timer far = sim.After(10s, [] {});
  EXPECT_FALSE(sim.RunUntilIdle(T(4s)));
  EXPECT_EQ(sim.Now(), T(4s));
  EXPECT_TRUE(sim.RunUntilIdle(T(20s)));
  EXPECT_EQ(sim.Now(), T(10s));
}

TEST(SimScheduler, WallClockFollows) {
  SimScheduler sim(T(5s), WallTime{1000s});
  sim.Advance(3s);
  EXPECT_EQ(sim.WallNow(), WallTime{1003s});
}

TEST(SimScheduler, TasksThatOwnTimersMayDieWithTheScheduler) {
  auto sim = std::make_unique<SimScheduler>();
  auto inner = std::make_shared<Timer>(sim->After(2s, [] {}));
  sim->Post([inner] {});
  inner.reset();
  sim.reset();
}

// Against a plain sort, with half of the timers cancelled in between (which makes it sweep).
TEST(SimScheduler, AgreesWithASortOnTenThousandTimers) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed);
  SimScheduler sim;
  std::vector<int> ran;
  std::vector<std::pair<std::int64_t, int>> expected;
  std::vector<Timer> timers;
  for (int i = 0; i < 10'000; ++i) {
    const auto due = static_cast<std::int64_t>(rng.Below(500));
    timers.push_back(sim.At(T(Duration{due}), [&ran, i] { ran.push_back(i); }));
    expected.emplace_back(due, i);
  }
  std::vector<std::pair<std::int64_t, int>> kept;
  for (std::size_t i = 0; i < timers.size(); ++i) {
    if (rng.Chance(0.7)) {
      timers[i].Cancel();
    } else {
      kept.push_back(expected[i]);
    }
  }
  EXPECT_EQ(sim.pending(), kept.size());
  std::sort(kept.begin(), kept.end());
  EXPECT_TRUE(sim.RunUntilIdle());
  ASSERT_EQ(ran.size(), kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) ASSERT_EQ(ran[i], kept[i].second) << i;
}

}  // namespace
}  // namespace plimsoll
