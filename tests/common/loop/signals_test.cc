#include "common/loop/signals.h"

#include <csignal>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(Signals, AClosedTerminalIsAFirstStopAndNeverMore) {
  EventLoop loop;
  std::vector<std::pair<int, int>> seen;
  const Signals signals(loop, [&](int count, int number) {
    seen.emplace_back(count, number);
    std::raise(SIGHUP);
    if (count == 1) loop.Post([] { std::raise(SIGTERM); });
    if (count == 2) loop.Stop();
  });
  loop.Post([] { std::raise(SIGHUP); });
  const Timer stuck = loop.After(20s, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{1, SIGHUP}, {2, SIGTERM}}));
}

TEST(Signals, WhatNohupIgnoresStaysIgnored) {
  std::signal(SIGHUP, SIG_IGN);
  EventLoop loop;
  int seen = 0;
  {
    const Signals signals(loop, [&](int, int) { ++seen; });
    loop.Post([] { std::raise(SIGHUP); });
    const Timer end = loop.After(100ms, [&] { loop.Stop(); });
    loop.Run();
  }
  EXPECT_EQ(seen, 0);
  std::signal(SIGHUP, SIG_DFL);
}

TEST(Signals, CountsAcrossBothSignals) {
  EventLoop loop;
  std::vector<std::pair<int, int>> seen;
  const Signals signals(loop, [&](int count, int number) {
    seen.emplace_back(count, number);
    if (count == 3) {
      loop.Stop();
    } else {
      std::raise(SIGTERM);
    }
  });
  loop.Post([] { std::raise(SIGINT); });
  const Timer stuck = loop.After(20s, [&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{1, SIGINT}, {2, SIGTERM}, {3, SIGTERM}}));
}

}  // namespace
}  // namespace plimsoll
