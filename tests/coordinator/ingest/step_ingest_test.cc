// Records into cells: which block an observation and an attempt belong to, what failures count as,
// and the arithmetic of unsent calls.
#include "gtest/gtest.h"
#include "tests/coordinator/ingest/step_builder.h"

namespace plimsoll {
namespace {

TEST(StepIngest, BlocksAreHalfOpenAndOnlyTheMeasuredTimeCounts) {
  struct {
    double released;
    int block;  // Negative: in none.
  } const cases[] = {{-1, -1}, {9.999999999, -1}, {10, 0},           {29.999999999, 0},
                     {30, 1},  {50, 2},           {69.999999999, 2}, {70, -1}};
  for (const auto& c : cases) {
    StepIngest ingest = MakeIngest();
    ingest.Add(OkCall(c.released));
    const StepEvidence e = ingest.Close({});
    if (c.block < 0) {
      EXPECT_TRUE(e.cells.empty()) << c.released;
      EXPECT_EQ(e.outcomes[static_cast<std::size_t>(Outcome::kOk)], 0u);
      continue;
    }
    const auto cell = CellOf(e, 0, static_cast<std::uint32_t>(c.block));
    ASSERT_NE(cell, nullptr) << c.released;
    EXPECT_EQ(e.cells.size(), 1u);
    EXPECT_EQ(cell->attempts, 1u);
    EXPECT_EQ(cell->ttft_n, 1u);
    EXPECT_EQ(cell->parts[0].hits, 1u);
    EXPECT_EQ(cell->parts[1].hits, 1u);
  }
}

TEST(StepIngest, ACallIsObservedInItsFirstReleasesBlockAndAttemptsInTheirOwn) {
  StepIngest ingest = MakeIngest();
  const CallRecord first = FailedCall(29, Outcome::kRefused, /*last=*/false);
  ingest.Add(first);
  ingest.Add(Again(first, OkCall(31), 2));
  const StepEvidence e = ingest.Close({});
  const auto a = CellOf(e, 0, 0);
  const auto b = CellOf(e, 0, 1);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_EQ(a->attempts, 1u);
  EXPECT_EQ(a->failed, 1u);
  EXPECT_EQ(b->attempts, 1u);
  EXPECT_EQ(b->failed, 0u);
  EXPECT_EQ(a->ttft_n, 1u) << "observed once";
  EXPECT_EQ(a->parts[0].hits, 0u) << "3 s from its first release";
  EXPECT_EQ(a->parts[1].hits, 1u);
  EXPECT_EQ(b->ttft_n + b->rate_n, 0u);
  EXPECT_EQ(e.ttft_ns.max(), Sec(3));
}

TEST(StepIngest, TheLimitItselfIsWithin) {
  StepIngest ingest = MakeIngest();
  CallRecord at = OkCall(12);
  at.first_token = Sec(14);
  at.last_token = Sec(16);  // 20 tokens in 2 s: 10 a second.
  ingest.Add(at);
  CallRecord beyond = at;
  beyond.call = 1;
  beyond.first_token = Sec(14) + 1;
  beyond.last_token = Sec(16) + 1000;
  ingest.Add(beyond);
  const StepEvidence e = ingest.Close({});
  EXPECT_EQ(CellOf(e, 0, 0)->ttft_n, 2u);
  EXPECT_EQ(CellOf(e, 0, 0)->parts[0].hits, 1u);
  EXPECT_EQ(CellOf(e, 0, 0)->parts[1].hits, 1u);
}

TEST(StepIngest, WhatAnEndedCallCountsAs) {
  CallRecord one_chunk = OkCall(12);
  one_chunk.chunks = 1;
  CallRecord same_stamp = OkCall(12);
  same_stamp.last_token = same_stamp.first_token;
  CallRecord broken = OkCall(12);  // With a first token, without usage.
  broken.outcome = Outcome::kTruncated;
  broken.tokens_out = kAbsentTokens;
  struct {
    const char* what;
    CallRecord record;
    std::uint32_t ttft_n, ttft_within, rate_n, rate_within, one_chunk, failed;
    std::uint64_t infinite, zero;
  } const cases[] = {
      {"ok", OkCall(12), 1, 1, 1, 1, 0, 0, 0, 0},
      {"one chunk", one_chunk, 1, 1, 0, 0, 1, 0, 0, 0},
      {"first and last token share a stamp", same_stamp, 1, 1, 0, 0, 1, 0, 0, 0},
      {"failed without a token", FailedCall(12, Outcome::kHttpError), 1, 0, 1, 0, 0, 1, 1, 1},
      {"cut", FailedCall(12, Outcome::kCut), 1, 0, 1, 0, 0, 1, 1, 1},
      {"failed with a token", broken, 1, 1, 1, 0, 0, 1, 0, 1},
      {"our own fault", FailedCall(12, Outcome::kClientError), 0, 0, 0, 0, 0, 0, 0, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    StepIngest ingest = MakeIngest();
    ingest.Add(c.record);
    const StepEvidence e = ingest.Close({});
    ASSERT_EQ(e.cells.size(), 1u);
    const CellCounts& cell = e.cells[0];
    EXPECT_EQ(cell.attempts, 1u);
    EXPECT_EQ(cell.ttft_n, c.ttft_n);
    EXPECT_EQ(cell.parts[0].hits, c.ttft_within);
    EXPECT_EQ(cell.rate_n, c.rate_n);
    EXPECT_EQ(cell.parts[1].hits, c.rate_within);
    EXPECT_EQ(cell.rate_one_chunk, c.one_chunk);
    EXPECT_EQ(cell.failed, c.failed);
    EXPECT_EQ(e.ttft_infinite, c.infinite);
    EXPECT_EQ(e.rate_zero, c.zero);
    EXPECT_EQ(e.outcomes[static_cast<std::size_t>(c.record.outcome)], 1u);
  }
}

TEST(StepIngest, ACallGivenUpWhileItWaitedFailedOnce) {
  StepIngest ingest = MakeIngest();
  ingest.Add(FailedCall(12, Outcome::kRefused, /*last=*/false));
  const StepEvidence e = ingest.Close({});
  EXPECT_EQ(CellOf(e, 0, 0)->ttft_n, 1u);
  EXPECT_EQ(CellOf(e, 0, 0)->rate_n, 1u);
  EXPECT_EQ(e.ttft_infinite, 1u);
  // One whose last attempt came is not unfinished, on whatever stream others wait.
  StepIngest both = MakeIngest();
  CallRecord other = FailedCall(13, Outcome::kRefused, /*last=*/false);
  other.stream = 1;
  const CallRecord first = FailedCall(12, Outcome::kRefused, /*last=*/false);
  both.Add(first);
  both.Add(other);
  both.Add(Again(first, OkCall(14), 2));
  EXPECT_EQ(both.Close({}).ttft_infinite, 1u);
}

TEST(StepIngest, SumsUsageOfTheMeasuredTimeAndCountsWhereItIsMissing) {
  StepIngest ingest = MakeIngest();
  ingest.Add(OkCall(12));
  ingest.Add(OkCall(5, 1));
  CallRecord without = OkCall(20, 2);
  without.tokens_in = without.tokens_cached = without.tokens_out = kAbsentTokens;
  ingest.Add(without);
  const StepEvidence e = ingest.Close({});
  EXPECT_EQ(e.tokens_in, 500u);
  EXPECT_EQ(e.tokens_cached, 400u);
  EXPECT_EQ(e.tokens_out, 21u);
  EXPECT_EQ(e.usage_missing, 1u);
  for (const CellCounts& cell : e.cells) {
    EXPECT_EQ(cell.rate_one_chunk, 0u) << "no usage is not one chunk";
  }
  EXPECT_EQ(e.ttft_sent_ns.max(), Sec(0.75));
}

TEST(StepIngest, IgnoresWhatIsNotOfTheStepOrOutOfRange) {
  StepIngest ingest = MakeIngest();
  for (const auto& change : std::vector<void (*)(CallRecord*)>{
           [](CallRecord* r) { r->step = 2; }, [](CallRecord* r) { r->step = 4; },
           [](CallRecord* r) { r->lane = 2; }, [](CallRecord* r) { r->lane = 0xFFFFFFFF; },
           [](CallRecord* r) { r->tier = 2; }, [](CallRecord* r) { r->tier = 255; }}) {
    CallRecord r = OkCall(12);
    change(&r);
    ingest.Add(r);
  }
  ingest.Add(StepTally{.step = 2, .attempts_released = 9});
  ingest.Add(StepTally{
      .step = 3,
      .lanes = {
          {.lane = 9, .failed_plays = {{.calls_remaining = 9, .silent_ns = Sec(50)}}},
          {.lane = 0, .tier = 7, .failed_plays = {{.calls_remaining = 9, .silent_ns = Sec(50)}}}}});
  EXPECT_TRUE(ingest.Close({}).cells.empty());
}

// Unsent calls of lane 0 after ok calls `cycle` seconds apart (0: none).
std::uint32_t Unsent(double cycle, const FailedPlays& failed, std::uint8_t tier = 0) {
  StepIngest ingest = MakeIngest();
  for (int i = 0; cycle > 0 && i < 5; ++i) {
    CallRecord r = OkCall(12 + i * cycle, static_cast<std::uint32_t>(i));
    r.tier = tier;
    ingest.Add(r);
  }
  ingest.Add(StepTally{.step = 3, .lanes = {{.lane = 0, .tier = tier, .failed_plays = {failed}}}});
  std::uint32_t unsent = 0;
  for (const CellCounts& cell : ingest.Close({}).cells) {
    if (cell.unsent > 0) {
      EXPECT_EQ(cell.block, std::min(failed.block, 2u));
    }
    unsent += cell.unsent;
  }
  return unsent;
}

TEST(StepIngest, UnsentIsTheSilenceOverTheMedianCycle) {
  const FailedPlays failed{.block = 1, .calls_remaining = 50, .silent_ns = Sec(12)};
  EXPECT_EQ(Unsent(3, failed), 4u) << "12 s at the measured 3 s";
  EXPECT_EQ(Unsent(0, failed), 3u) << "no ok call: at the recorded 4 s";
  EXPECT_EQ(Unsent(0, failed, 1), 6u) << "of its tier";
  FailedPlays few = failed;
  few.calls_remaining = 2;
  EXPECT_EQ(Unsent(3, few), 2u) << "never more than the play had left";
  FailedPlays none = failed;
  none.silent_ns = 0;
  EXPECT_EQ(Unsent(3, none), 0u);
  // What no agent of ours would say.
  FailedPlays beyond = failed;
  beyond.block = 4095;
  EXPECT_EQ(Unsent(3, beyond), 4u) << "in the last block";
  beyond.silent_ns = Sec(500'000);
  EXPECT_EQ(Unsent(3, beyond), 20u) << "no more than the measured 60 s hold";
  beyond.silent_ns = Sec(-500);
  EXPECT_EQ(Unsent(3, beyond), 0u);
}

TEST(StepIngest, ACallThatEndedByOurOwnFaultIsNoErrorOfTheServers) {
  // Of the first kind: its attempts ended by our own fault, and it was then given up.
  for (const Outcome outcome : {Outcome::kClientError, Outcome::kRefused}) {
    StepIngest ingest = MakeIngest();
    ingest.Add(FailedCall(12, outcome, /*last=*/false));
    const StepEvidence e = ingest.Close({});
    const std::uint32_t observed = outcome == Outcome::kRefused ? 1 : 0;
    EXPECT_EQ(CellOf(e, 0, 0)->ttft_n, observed) << Name(outcome);
    EXPECT_EQ(CellOf(e, 0, 0)->rate_n, observed) << Name(outcome);
  }
}

TEST(StepIngest, FidelityIsSummedByTierAndNeverOverflows) {
  StepIngest ingest = MakeIngest();
  const FidelityCounts one{.pauses = 2,
                           .pause_recorded_ns = 30,
                           .pause_removed_ns = 10,
                           .answers_kept = 1,
                           .answers_over_limit = 2,
                           .answers_without_content = 3,
                           .turns_live = 4,
                           .turns_recorded = 5};
  const FidelityCounts huge{.pause_recorded_ns = FidelityCounts::kPausesMaxNs,
                            .pause_removed_ns = FidelityCounts::kPausesMaxNs};
  ingest.Add(StepTally{.step = 3,
                       .lanes = {{.lane = 0, .tier = 0, .fidelity = one},
                                 {.lane = 1, .tier = 1, .fidelity = huge},
                                 {.lane = 2, .tier = 0, .fidelity = one},
                                 {.lane = 3, .tier = 1, .fidelity = huge},
                                 {.lane = 4, .tier = 7, .fidelity = one}}});
  const StepEvidence e = ingest.Close({});
  ASSERT_EQ(e.replay.tiers.size(), 2u);
  FidelityCounts two = one;
  two.Add(one);
  EXPECT_EQ(two.pause_recorded_ns, 60);
  EXPECT_EQ(e.replay.tiers[0].name, "heavy");
  EXPECT_EQ(e.replay.tiers[0].fidelity, two);
  EXPECT_EQ(e.replay.tiers[1].fidelity.pause_recorded_ns, FidelityCounts::kPausesMaxNs);
}

TEST(StepIngest, ACycleRunsFromTheFirstReleaseOfARetriedCallOfTheStepBefore) {
  StepIngest ingest = MakeIngest();
  CallRecord before = OkCall(12);
  before.first_released = Sec(-5);
  before.attempt = 2;
  ingest.Add(before);
  ingest.Add(OkCall(15, 1));  // 20 s later.
  ingest.Add(StepTally{
      .step = 3,
      .lanes = {{.lane = 0, .failed_plays = {{.calls_remaining = 50, .silent_ns = Sec(35)}}}}});
  EXPECT_EQ(CellOf(ingest.Close({}), 0, 0)->unsent, 1u) << "35 s at 20 s, not at 15 s";
}

TEST(StepIngest, TheMedianCycleIsOfConsecutiveOkCallsOfOneStream) {
  const FailedPlays failed{.block = 0, .calls_remaining = 50, .silent_ns = Sec(31)};
  StepIngest ingest = MakeIngest();
  // A call that was first released before this step, and ends ok on its second attempt.
  CallRecord before = OkCall(12);
  before.first_released = Sec(-5);
  before.attempt = 2;
  ingest.Add(before);
  ingest.Add(OkCall(15, 1));  // 20 s after the first release of the one before.
  // Interleaved: another stream, and after a failure nothing counts.
  for (int i = 0; i < 6; ++i) {
    CallRecord side = OkCall(16 + i * 10, 10);
    side.stream = 1;
    ingest.Add(side);
    ingest.Add(FailedCall(16 + i, Outcome::kHttpError));
  }
  ingest.Add(StepTally{.step = 3, .lanes = {{.lane = 0, .failed_plays = {failed}}}});
  // Cycles: 1 s and 20 s once, 10 s five times; 31 s of silence make three.
  EXPECT_EQ(CellOf(ingest.Close({}), 0, 0)->unsent, 3u);
}

}  // namespace
}  // namespace plimsoll
