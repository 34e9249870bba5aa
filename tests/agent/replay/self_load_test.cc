// What an agent says of itself in a step's tally: its loop's health and its machine's over the
// measured time, and how late its releases were.
#include <algorithm>

#include "tests/agent/replay/replay_rig.h"

namespace plimsoll {
namespace {

HostLoad AHost(double cores_used) {
  return {.cores_used_max = cores_used,
          .cores = 2.0,
          .thread_share_max = 0.3,
          .throttled_ns = 4,
          .stolen_ns = 5,
          .descriptors_max = 60,
          .descriptors_limit = 70,
          .ports_max = 80,
          .ports_limit = 90};
}

TEST(SelfLoadOfAStep, IsThatOfTheMeasuredTimeAlone) {
  Rig rig(2);
  rig.StartStep();
  // What it says before the measured time's end, and after it, is of other times.
  rig.load.lag_max = 9s;
  rig.scheduler.RunUntil(rig.start + 69s);
  EXPECT_EQ(rig.load.reset_at, std::vector<MonoTime>{rig.start + 10s});
  rig.load.lag_max = 120ms;
  rig.load.stalled = 340ms;
  rig.load.moved = -56ms;
  rig.load.cpu_share = 0.78;
  rig.load.machine = AHost(1.25);
  rig.transport.answer = [](std::size_t) { return FixedTransport::Answer{.service = 5s}; };
  rig.scheduler.RunUntil(rig.start + 70s);
  rig.load.lag_max = rig.load.stalled = rig.load.moved = 9s;
  rig.load.cpu_share = 9;
  rig.load.machine = AHost(9);
  rig.RunToClose();
  EXPECT_GT(rig.scheduler.Now(), rig.start + 70s) << "it closes later, when its calls have ended";
  EXPECT_EQ(rig.tally->loop_lag_max_ns, Duration(120ms).count());
  EXPECT_EQ(rig.tally->loop_stalled_ns, Duration(340ms).count());
  EXPECT_EQ(rig.tally->wall_moved_ns, Duration(-56ms).count());
  EXPECT_EQ(rig.tally->cpu_share_max, 0.78);
  EXPECT_EQ(rig.tally->host, AHost(1.25));
}

TEST(SelfLoadOfAStep, OfAStepThatWasDecidedIsTakenAtItsNewEnd) {
  Rig rig(2);
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 40s);
  rig.load.lag_max = 120ms;
  rig.load.machine = AHost(1.5);
  rig.replayer->EndMeasure(0, 35s);
  rig.scheduler.RunUntil(rig.start + 45s);
  rig.load.lag_max = 9s;
  rig.load.machine = {};
  if (!rig.tally.has_value()) rig.RunToClose();
  EXPECT_EQ(rig.tally->loop_lag_max_ns, Duration(120ms).count());
  EXPECT_EQ(rig.tally->host, AHost(1.5));
}

TEST(SelfLoadOfAStep, LatenessIsWhatTheTransportSawOfTheReleasesOfTheMeasuredTime) {
  Rig rig(3, ThinkTime::kRecorded);  // Pauses of half a second, which timers of the loop end.
  rig.StartStep();
  // Releases are due at each half second: those at the odd ones meet a stall that ends 1 to 300 ms
  // later. Before the measured time there is one of two seconds.
  rig.scheduler.RunUntil(rig.start + 5s);
  rig.loop.Stall(2s);
  for (int i = 0; i < 60; ++i) {
    rig.scheduler.RunUntil(rig.start + 10s + 400ms + i * Duration(1s));
    rig.loop.Stall((101 + i * 67 % 300) * Duration(1ms));
  }
  rig.RunToClose();
  std::vector<std::int64_t> late;
  for (std::size_t i = rig.primers_wanted; i < rig.transport.sent.size(); ++i) {
    const FixedTransport::Sent& sent = rig.transport.sent[i];
    if (sent.released < rig.start + 10s || sent.released >= rig.start + 70s) continue;
    late.push_back((sent.at - sent.released).count());
  }
  std::sort(late.begin(), late.end());
  ASSERT_EQ(late.size(), rig.tally->attempts_released);
  ASSERT_GT(late.size(), 100u);
  EXPECT_GT(late.back(), Duration(100ms).count());
  EXPECT_LE(late.back(), Duration(300ms).count());
  EXPECT_EQ(rig.tally->lateness_max_ns, late.back());
  // By the nearest rank, in a histogram whose buckets are 1/256 wide.
  const auto p99 = static_cast<double>(late[(late.size() * 99 + 99) / 100 - 1]);
  EXPECT_NEAR(static_cast<double>(rig.tally->lateness_p99_ns), p99, p99 / 100);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(SelfLoadOfAStep, ALoopThatNeverStallsIsNeverLate) {
  Rig rig(3, ThinkTime::kRecorded);
  rig.StartStep();
  rig.RunToClose();
  EXPECT_GT(rig.tally->attempts_released, 100u);
  EXPECT_EQ(rig.tally->lateness_max_ns, 0);
  EXPECT_EQ(rig.tally->lateness_p99_ns, 0);
}

}  // namespace
}  // namespace plimsoll
