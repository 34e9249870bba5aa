// A real loop that stands still and works: what it says of itself. Bounds are one-sided, and taken
// from what this thread really spent, so that a busy machine proves the same.
#include "agent/host/loop_load.h"

#include <ctime>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

constexpr Duration kWork = 300ms;

Duration ThreadCpu() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
}

TEST(LoopLoad, SeesItsStallsAndItsProcessorTimeUntilItIsReset) {
  EventLoop loop;
  LoopLoad load(loop);
  const MonoTime begun = loop.Now();
  const Timer work = loop.After(30ms, [] {
    for (const Duration until = ThreadCpu() + kWork; ThreadCpu() < until;) {
    }
  });
  // Its own sample is due at one second; this looks after it, however late both are.
  Timer look;
  const Timer later =
      loop.After(1100ms, [&] { look = loop.After(Duration{0}, [&] { loop.Stop(); }); });
  loop.Run();
  const Duration passed = loop.Now() - begun;
  // The loop's own timer, every 10 ms, came late by what the work took.
  EXPECT_GE(load.loop_lag_max(), kWork - 15ms);
  EXPECT_GE(load.loop_stalled(), kWork - 15ms);
  EXPECT_LE(load.loop_stalled(), passed);
  EXPECT_GE(load.cpu_share_max(), ToSeconds(kWork) / ToSeconds(passed));
  EXPECT_LE(load.cpu_share_max(), 1.1);
  const HostLoad host = load.host();
  // Ticks of the kernel's own accounting, which rounds.
  EXPECT_GE(host.cores_used_max.value_or(0), 0.8 * ToSeconds(kWork) / ToSeconds(passed));
  EXPECT_GT(host.descriptors_max.value_or(0), 0u);

  load.Reset();
  EXPECT_EQ(load.loop_lag_max(), Duration{0});
  EXPECT_EQ(load.loop_stalled(), Duration{0});
  EXPECT_EQ(load.cpu_share_max(), 0);
  EXPECT_EQ(load.wall_moved(), Duration{0});
}

}  // namespace
}  // namespace plimsoll
