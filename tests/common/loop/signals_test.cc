#include "common/loop/signals.h"

#include <csignal>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

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
