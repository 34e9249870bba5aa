// What is said to a reader that takes nothing: nobody waits, nothing is broken in two, and what was
// dropped is told.
#include "coordinator/cli/output_queue.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "coordinator/cli/progress.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr Duration kPatience = 60s;  // Only a hang meets it.

// A pipe that nobody reads unless the test does.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0); }
  ~Pipe() {
    CloseReader();
    ::close(ends_[1]);
  }
  int in() const { return ends_[1]; }
  std::size_t size() const { return static_cast<std::size_t>(::fcntl(ends_[1], F_GETPIPE_SZ)); }
  void CloseReader() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  // What is there; empty if nothing comes for a moment.
  std::string Read() {
    struct pollfd wanted {
      .fd = ends_[0], .events = POLLIN, .revents = 0
    };
    if (::poll(&wanted, 1, 10) != 1) return {};
    std::array<char, 1 << 16> bytes;
    const ssize_t n = ::read(ends_[0], bytes.data(), bytes.size());
    return std::string(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(0, n)));
  }
  std::string ReadUntil(const std::string& last) {
    std::string text;
    while (!text.ends_with(last)) text += Read();
    return text;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

TEST(OutputQueue, WritesInOrder) {
  Pipe pipe;
  OutputQueue queue(pipe.in());
  EXPECT_TRUE(queue.Offer("one "));
  EXPECT_TRUE(queue.Offer("two"));
  EXPECT_EQ(pipe.ReadUntil("two"), "one two");
  EXPECT_TRUE(queue.Drain(kPatience));
  EXPECT_TRUE(queue.idle());
}

TEST(OutputQueue, NeverWaitsForAReaderAndTakesTextsWholeOrNotAtAll) {
  Pipe pipe;
  const std::size_t bound = pipe.size() + 1000;
  OutputQueue queue(pipe.in(), bound);
  std::string taken;
  // The pipe and the queue are full once both have their bytes.
  for (int i = 0; taken.size() < pipe.size() + 900; ++i) {
    const std::string text = fmt::format("{:06}{}\n", i, std::string(93, 'x'));
    if (queue.Offer(text)) taken += text;
  }
  EXPECT_FALSE(queue.idle());
  EXPECT_FALSE(queue.Drain(1ms));
  EXPECT_FALSE(queue.Offer(std::string(bound + 1, 'y'))) << "larger than the queue itself";
  ASSERT_TRUE(queue.Offer(std::string()));
  EXPECT_EQ(pipe.ReadUntil(taken.substr(taken.size() - 100)), taken);
  EXPECT_TRUE(queue.Drain(kPatience));
}

TEST(OutputQueue, AReaderThatIsGoneTakesEverything) {
  Pipe pipe;
  pipe.CloseReader();
  OutputQueue queue(pipe.in(), 1000);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(queue.Offer(std::string(900, 'x')));
    ASSERT_TRUE(queue.Drain(kPatience));
  }
}

TEST(OutputQueue, OneThatIsDestroyedWaitsForNobody) {
  Pipe pipe;
  { OutputQueue(pipe.in(), 1 << 20).Offer(std::string(pipe.size() + 1, 'x') + "end"); }
  EXPECT_THAT(pipe.ReadUntil("end"), EndsWith("xend"));
}

TEST(Progress, LinesThatFindNoRoomAreCountedAndTold) {
  Pipe pipe;
  SimScheduler scheduler;
  Progress progress(scheduler, {.fd = pipe.in()}, {}, [] { return LiveStatus{}; });
  // Far beyond pipe and queue: said to nobody, and this goes on.
  const std::size_t said = (pipe.size() + OutputQueue::kBytesMax) / 100 * 2;
  for (std::size_t i = 0; i < said; ++i) {
    progress.Say(fmt::format("{:06}{}", i, std::string(93, 'x')));
  }
  // Whatever the thread took meanwhile, the first lines are whole and in order.
  std::string text;
  std::size_t lines = 0;
  const auto note = [&] { return text.find("(here "); };
  while (note() == std::string::npos || !text.ends_with('\n')) {
    text += pipe.Read();
    progress.Say("after");
  }
  std::size_t at = 0;
  for (; text.compare(at, 6, fmt::format("{:06}", lines)) == 0; at += 100) ++lines;
  EXPECT_GE(lines * 100, OutputQueue::kBytesMax - 100);
  EXPECT_LT(lines, said);
  EXPECT_THAT(text, HasSubstr("lines are not shown: nothing was taken for too long)"));
}

TEST(Progress, ATerminalThatTakesNothingGetsNoMoreBlocksUntilItDoes) {
  Pipe pipe;
  SimScheduler scheduler;
  LiveStatus status;
  status.phase = RunPhase::kGather;
  Progress progress(scheduler, {.fd = pipe.in(), .terminal = true}, {}, [&] { return status; });
  progress.Say(std::string(pipe.size() + 1, 'x'));  // The first byte too many is not taken.
  progress.Start();
  scheduler.Advance(3600s);
  std::string text = pipe.ReadUntil("x\r\n");
  EXPECT_LE(std::count(text.begin(), text.end(), '\x1b'), 1) << "no block was kept for later";
  // Now it takes; the next tick finds everything written.
  while (text.find("x\r\n\r\x1b[J") == std::string::npos) {
    scheduler.Advance(1s);
    text += pipe.Read();
  }
  progress.Stop();
  EXPECT_TRUE(progress.Finish());
}

}  // namespace
}  // namespace plimsoll
