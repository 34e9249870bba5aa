// A lane's plays folded: what was silent within the measured time, and memory that does not grow
// with the plays.
#include "agent/replay/play_book.h"

#include <array>

#include "gtest/gtest.h"
#include "tests/agent/replay/replay_rig.h"

namespace plimsoll {
namespace {

MonoTime At(double s) {
  return MonoTime{} + FromSeconds(s);
}

// The measured time is [110, 170) in three blocks.
StepWindow Window() {
  return StepWindow({.warm_up = 10s, .measure = 60s, .block = 20s}, At(100));
}

PlayTally Failed(std::uint32_t block, MonoTime silent_from) {
  return {.play = 4,
          .calls_total = 9,
          .calls_released = 2,
          .calls_remaining = 7,
          .failed = true,
          .failed_block = block,
          .silent_from = silent_from};
}

TEST(PlayBook, BooksWhatWasSilentWithinTheMeasuredTime) {
  struct {
    const char* what;
    std::uint32_t block;
    double from;
    double next;
    std::uint32_t booked_in;
    double silent_s;  // 0: nothing is booked.
  } const cases[] = {
      {"within", 1, 135, 147, 1, 12},
      {"to the measured end", 1, 135, 600, 1, 35},
      {"its call has no cell: where the silence begins", kWarmUpBlock, 105, 115, 0, 5},
      {"in another step", kWarmUpBlock, 20, 140, 0, 30},
      {"a first failure late in the measured time", kWarmUpBlock, 151, 160, 2, 9},
      {"failed after the measured end", 2, 175, 190, 0, 0},
      {"silent in the warm-up only", kWarmUpBlock, 101, 109.5, 0, 0},
  };
  for (const auto& c : cases) {
    PlayBook book(2);
    book.Add(Window(), Failed(c.block, At(c.from)), At(90), At(c.next));
    ASSERT_EQ(book.failed().size(), c.silent_s > 0 ? 1u : 0u) << c.what;
    if (c.silent_s == 0) continue;
    const FailedPlays expected{
        .block = c.booked_in, .calls_remaining = 7, .silent_ns = FromSeconds(c.silent_s).count()};
    EXPECT_EQ(book.failed()[0], expected) << c.what;
  }
}

TEST(PlayBook, OnlyPlaysThatWereAliveInTheMeasuredTimeCountAndEachOnce) {
  PlayBook book(2);
  const PlayTally play{.play = 3,
                       .calls_total = 10,
                       .calls_skipped = 1,
                       .calls_before = 2,
                       .calls_released = 3,
                       .calls_remaining = 4};
  book.Add(Window(), play, At(90), At(109));   // Over before it.
  book.Add(Window(), play, At(170), At(171));  // Begun after it.
  EXPECT_EQ(book.sums(), PlaySums{});
  book.Add(Window(), play, At(90), At(110));
  book.Add(Window(), play, At(169), At(175));
  const PlaySums expected{.plays = 2,
                          .calls_total = 20,
                          .calls_skipped = 2,
                          .calls_before = 4,
                          .calls_released = 6,
                          .calls_remaining = 8,
                          .mixed = 6 * MixedPlay(2, 3)};
  EXPECT_EQ(book.sums(), expected);
  book.Clear();
  EXPECT_EQ(book.sums(), PlaySums{});
}

TEST(PlayBook, WhatOurOwnFaultEndedIsCountedAndNotBooked) {
  PlayBook book(0);
  PlayTally play = Failed(1, At(135));
  play.client_fault = true;
  book.Add(Window(), play, At(120), At(150));
  EXPECT_EQ(book.sums().plays, 1u);
  EXPECT_TRUE(book.failed().empty());
}

TEST(PlayBook, AHundredThousandFailedPlaysTakeNoMoreThanTheFirstAndLoseNothing) {
  PlayBook book(1);
  std::int64_t silent = 0;
  for (int i = 0; i < 100'000; ++i) {
    const MonoTime from = At(110) + i * 600us;
    book.Add(Window(), Failed(Window().BlockOf(from), from), from, from + 400us);
    silent += Duration(400us).count();
  }
  EXPECT_EQ(book.sums().plays, 100'000u);
  EXPECT_LE(book.failed().size(), FailedPlays::kAloneMax + 3);
  FailedPlays sum{.plays = 0};
  std::array<std::uint32_t, 3> by_block{};
  for (const FailedPlays& failed : book.failed()) {
    sum.plays += failed.plays;
    sum.calls_remaining += failed.calls_remaining;
    sum.silent_ns += failed.silent_ns;
    by_block.at(failed.block) += failed.plays;
  }
  EXPECT_EQ(sum.plays, 100'000u);
  EXPECT_EQ(sum.calls_remaining, 700'000u);
  EXPECT_EQ(sum.silent_ns, silent);
  for (const std::uint32_t plays : by_block) EXPECT_NEAR(plays, 33'333, 1);
}

Session OneCall() {
  Session s;
  s.id = "one";
  s.tier = Tier::kLight;
  s.streams = {{}};
  s.calls = {MakeCall(0, -1, 0, 100)};
  return s;
}

// What the tally of a step of ever shorter plays comes to, by the entries it holds.
TEST(PlayBook, AStepsTallyDoesNotGrowWithItsPlays) {
  for (const Outcome outcome : {Outcome::kOk, Outcome::kContextOverflow}) {
    for (const Duration service : {Duration(50ms), Duration(500us)}) {
      RunPlan plan;
      plan.failure.back_off_min = plan.failure.back_off_max = 100us;
      Rig rig(1, plan, {OneCall()});
      rig.transport.answer = [&](std::size_t) {
        return FixedTransport::Answer{.outcome = outcome, .service = service};
      };
      rig.StartStep();
      rig.RunToClose();
      const LaneTally& lane = rig.tally->lanes[0];
      EXPECT_GT(lane.plays.plays, service > 1ms ? 1'000u : 90'000u);
      EXPECT_LE(lane.failed_plays.size(), FailedPlays::kAloneMax + 3);
      EXPECT_EQ(lane.plays.calls_released, rig.tally->attempts_released);
      ExpectConserved(*rig.tally, Duration(60s).count());
    }
  }
}

}  // namespace
}  // namespace plimsoll
