#include "common/loop/event_loop.h"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(EventLoop, RunsTimersByDueAndThenByArming) {
  EventLoop loop;
  std::vector<int> order;
  const MonoTime base = loop.Now() + 2ms;
  const Timer c = loop.At(base + 1ms, [&] {
    order.push_back(3);
    loop.Stop();
  });
  const Timer a = loop.At(base, [&] { order.push_back(1); });
  const Timer b = loop.At(base, [&] { order.push_back(2); });
  EXPECT_TRUE(order.empty());
  loop.Run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST(EventLoop, ATimerNeverRunsEarly) {
  EventLoop loop;
  const MonoTime due = loop.Now() + 3ms;
  MonoTime ran{};
  const Timer timer = loop.At(due, [&] {
    ran = loop.Now();
    loop.Stop();
  });
  loop.Run();
  EXPECT_GE(ran, due);
}

TEST(EventLoop, ACancelledTimerNeverRuns) {
  EventLoop loop;
  bool ran = false;
  const MonoTime due = loop.Now();
  Timer victim;
  // Both are due in the same turn; the first takes the second away.
  const Timer killer = loop.At(due, [&] { victim.Cancel(); });
  victim = loop.At(due, [&] { ran = true; });
  {
    const Timer dropped = loop.At(due, [&] { ran = true; });
  }
  const Timer stop = loop.At(due + 1ms, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_FALSE(ran);
}

TEST(EventLoop, AnOverdueTimerThatRearmsItselfStarvesNothing) {
  EventLoop loop;
  Timer again;
  int turns = 0;
  std::function<void()> spin = [&] {
    ++turns;
    again = loop.At(loop.Now() - 1s, spin);
  };
  spin();
  bool posted = false;
  const Timer stop = loop.After(5ms, [&] {
    loop.Post([&] {
      posted = true;
      loop.Stop();
    });
  });
  loop.Run();
  EXPECT_TRUE(posted);
  EXPECT_GT(turns, 1);
}

TEST(EventLoop, PostKeepsOrderFromEachThread) {
  EventLoop loop;
  constexpr int kEach = 2000;
  std::vector<int> last(3, -1);
  int total = 0;
  bool ordered = true;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < last.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        loop.Post([&, t, i] {
          ordered = ordered && last[t] == i - 1;
          last[t] = i;
          if (++total == 3 * kEach) loop.Stop();
        });
      }
    });
  }
  loop.Run();
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(ordered);
  EXPECT_EQ(total, 3 * kEach);
}

TEST(EventLoop, StopBeforeRunHoldsAndRunMayFollow) {
  EventLoop loop;
  loop.Stop();
  bool ran = false;
  loop.Post([&] {
    ran = true;
    loop.Stop();
  });
  loop.Run();
  EXPECT_FALSE(ran);
  loop.Run();
  EXPECT_TRUE(ran);
}

TEST(EventLoop, LagShowsABlockedTurn) {
  EventLoop loop;
  const Timer block = loop.After(1ms, [&] {
    const MonoTime until = loop.Now() + 60ms;
    while (loop.Now() < until) {
    }
  });
  const Timer stop = loop.After(1200ms, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_GE(loop.lag().max, 40ms);
  EXPECT_GE(loop.lag().last_second, 40ms);
  loop.ResetLag();
  EXPECT_EQ(loop.lag().max, Duration{0});
}

TEST(EventLoop, TasksThatNeverRanAreDestroyed) {
  auto held = std::make_shared<int>(1);
  {
    EventLoop loop;
    loop.Post([held] {});
    const Timer timer = loop.After(1h, [held] {});
    EXPECT_EQ(held.use_count(), 3);
  }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace plimsoll
