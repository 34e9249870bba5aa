// Usage that cannot be: counted, shown, and never made a speed of.
#include "coordinator/judge/usage_doubts.h"

#include <cmath>
#include <optional>
#include <vector>

#include "coordinator/judge/judge_step.h"
#include "coordinator/judge/step_summary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/wire/random_values.h"
#include "tests/coordinator/ingest/step_builder.h"

namespace plimsoll {
namespace {

CallRecord With(std::uint32_t out, std::uint32_t first_chunk, std::uint32_t chunks = 21) {
  CallRecord r = OkCall(12);
  r.tokens_out = out;
  r.tokens_first_chunk = first_chunk;
  r.chunks = chunks;
  return r;
}

UsageDoubts DoubtsOf(const CallRecord& record, std::uint32_t output_cap = 0) {
  UsageDoubts doubts;
  doubts.Count(record, output_cap);
  return doubts;
}

TEST(UsageDoubts, MoreTokensInTheFirstChunkThanInAllAreNoSpeed) {
  EXPECT_LT(Interactivity(With(10, 11)), 0);
  EXPECT_EQ(Interactivity(With(10, 11)), -1) << "no rate, not a negative one";
  EXPECT_EQ(DoubtsOf(With(10, 11)).first_chunk_over, 1u);
  EXPECT_EQ(DoubtsOf(With(10, kAbsentTokens - 1)).first_chunk_over, 1u);
  EXPECT_EQ(DoubtsOf(With(10, 9)), DoubtsOf(With(10, kAbsentTokens)));
  EXPECT_DOUBLE_EQ(Interactivity(With(10, 9)), 1) << "one token in a second";
  EXPECT_EQ(Interactivity(With(10, 10)), -1) << "all of it came in the first chunk";
  EXPECT_EQ(DoubtsOf(With(10, 10)).contradicted(), 0u);
}

TEST(UsageDoubts, ATokenThatUsageDoesNotCountIsNoSpeedOfZero) {
  EXPECT_EQ(Interactivity(With(0, kAbsentTokens)), -1);
  EXPECT_EQ(DoubtsOf(With(0, kAbsentTokens)).no_output, 1u);
  EXPECT_EQ(DoubtsOf(With(0, kAbsentTokens, 1)).no_output, 1u);
  EXPECT_EQ(DoubtsOf(With(0, kAbsentTokens, 0)).no_output, 0u) << "a stop reason alone";
  EXPECT_EQ(DoubtsOf(With(0, 5)).contradicted(), 1u) << "once";
}

TEST(UsageDoubts, ContradictedCallsAreCountedApartFromThoseInOneChunk) {
  StepIngest ingest = MakeIngest();
  ingest.Add(OkCall(12));
  CallRecord r = With(10, 11);
  r.call = 1;
  ingest.Add(r);
  r = With(0, kAbsentTokens);
  r.call = 2;
  ingest.Add(r);
  r = With(10, 10);
  r.call = 3;
  ingest.Add(r);
  r = With(10, 11);
  r.outcome = Outcome::kTruncated;
  r.call = 4;
  ingest.Add(r);
  const StepEvidence e = ingest.Close({});
  EXPECT_EQ(e.rate_mtok_s.count(), 1u);
  EXPECT_EQ(e.end_to_end_rate_mtok_s.count(), 2u);
  EXPECT_EQ(e.rate_zero, 1u) << "the failed one has no speed";
  EXPECT_EQ(CellOf(e, 0, 0)->rate_one_chunk, 1u);
  EXPECT_EQ(e.usage_missing, 0u);
  EXPECT_EQ(e.fidelity.doubts.contradicted(), 2u);
  EXPECT_EQ(Summarize(e, StepVerdict{}).fidelity.doubts, e.fidelity.doubts);
}

TEST(UsageDoubts, OutputOverWhatWasAllowedIsCountedAndKept) {
  CallRecord r = OkCall(12);
  r.tokens_asked = 20;
  EXPECT_EQ(DoubtsOf(r).output_over_cap, 1u) << "21 of 20";
  r.tokens_asked = 21;
  EXPECT_EQ(DoubtsOf(r, 5).output_over_cap, 0u) << "its own length is its cap";
  r.tokens_asked = 0;
  EXPECT_EQ(DoubtsOf(r, 21).output_over_cap, 0u);
  EXPECT_EQ(DoubtsOf(r, 20).output_over_cap, 1u) << "left to the model, under the target's cap";
  EXPECT_EQ(DoubtsOf(r, 0).output_over_cap, 0u) << "no cap known";
  r.tokens_out = kAbsentTokens;
  EXPECT_EQ(DoubtsOf(r, 1).output_over_cap, 0u);
  StepIngest ingest(IngestPlan(), {{.lane = 0}, {.lane = 1}}, {"heavy"}, {4s}, Bar{}, {}, 20);
  ingest.Add(OkCall(12));
  const StepEvidence e = ingest.Close({});
  EXPECT_EQ(e.fidelity.doubts.output_over_cap, 1u);
  EXPECT_EQ(e.rate_mtok_s.count(), 1u) << "a long answer has a speed all the same";
}

TEST(UsageDoubts, MoreCachedThanThePromptHasIsCounted) {
  CallRecord r = OkCall(12);
  r.tokens_cached = r.tokens_in;
  EXPECT_EQ(DoubtsOf(r).cached_over_prompt, 0u);
  ++r.tokens_cached;
  EXPECT_EQ(DoubtsOf(r).cached_over_prompt, 1u);
  r.tokens_cached = kAbsentTokens;
  EXPECT_EQ(DoubtsOf(r).cached_over_prompt, 0u) << "absent is no large number";
}

TEST(UsageDoubts, AnUnbelievableSpeedIsSaidAndKept) {
  CallRecord r = OkCall(12);
  r.last_token = r.first_token + 1'000;  // 20 tokens in a microsecond.
  EXPECT_EQ(DoubtsOf(r).rate_unbelievable, 1u);
  EXPECT_EQ(DoubtsOf(OkCall(12)).rate_unbelievable, 0u);
  StepIngest ingest = MakeIngest();
  ingest.Add(r);
  EXPECT_EQ(ingest.Close({}).rate_mtok_s.count(), 1u);
}

TEST(UsageDoubts, ChunksAreHeldAgainstTokens) {
  const auto unlike = [](std::uint32_t chunks, std::uint32_t tokens) {
    const UsageDoubts doubts = DoubtsOf(With(tokens, kAbsentTokens, chunks));
    EXPECT_EQ(doubts.answers, 1u);
    EXPECT_EQ(doubts.chunks, chunks);
    EXPECT_EQ(doubts.tokens, tokens);
    return doubts.answers_unlike == 1;
  };
  EXPECT_FALSE(unlike(100, 100));
  EXPECT_FALSE(unlike(90, 100));
  EXPECT_FALSE(unlike(110, 100));
  EXPECT_TRUE(unlike(89, 100));
  EXPECT_TRUE(unlike(111, 100));
  EXPECT_FALSE(unlike(3, 5)) << "two tokens off is what an end token and a tool call cost";
  EXPECT_TRUE(unlike(2, 5));
  EXPECT_EQ(DoubtsOf(With(100, kAbsentTokens, 1)).answers, 0u) << "a whole answer at once";
  EXPECT_EQ(DoubtsOf(With(kAbsentTokens, kAbsentTokens, 50)).answers, 0u);
}

TEST(UsageDoubts, ContradictedUsageIsMissingUsageToTheJudge) {
  const auto part = [](std::uint32_t contradicted) {
    StepIngest ingest = MakeIngest();
    for (std::uint32_t i = 0; i < 200; ++i) {
      CallRecord r = OkCall(12 + 0.25 * i, i);
      if (i < contradicted) r.tokens_first_chunk = r.tokens_out + 1;
      ingest.Add(r);
    }
    const StepEvidence e = ingest.Close({{.lanes = 2}});
    const Bar bar{.limits = {{.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10}}};
    StepEvidence in_full = e;  // As of lanes that were busy all the time.
    in_full.lane_state_ns = {in_full.planned_lane_ns};
    in_full.identities.clear();
    return JudgeStep(in_full, bar).parts.at(0);
  };
  EXPECT_NE(part(2).verdict, Verdict::kNoData) << part(2).reason;
  EXPECT_EQ(part(3).verdict, Verdict::kNoData);
  EXPECT_THAT(part(3).reason,
              ::testing::HasSubstr("3 of 200 ok calls came without usage or with usage that "
                                   "contradicts itself"));
}

// The definition, written down apart from the code under test.
bool HasSpeed(const CallRecord& r) {
  if (r.first_token == kAbsentNanos || r.last_token <= r.first_token) return false;
  if (r.tokens_out == kAbsentTokens || r.tokens_out == 0 || r.chunks < 2) return false;
  return r.tokens_first_chunk == kAbsentTokens || r.tokens_first_chunk < r.tokens_out;
}

TEST(UsageDoubts, HostileRecordsHaveAPositiveSpeedOrNone) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Rng rng(kSeed);
  int speeds = 0;
  int contradicted = 0;
  for (int i = 0; i < 100'000; ++i) {
    CallRecord r = test::AnyRecord(&rng);
    if (rng.Chance(0.3))
      r.tokens_first_chunk = r.tokens_out + static_cast<std::uint32_t>(rng.Below(3)) - 1;
    if (rng.Chance(0.1)) r.tokens_out = 0;
    const double rate = Interactivity(r);
    ASSERT_EQ(rate > 0, HasSpeed(r)) << i;
    ASSERT_TRUE(rate == -1 || (rate > 0 && std::isfinite(rate))) << i << ": " << rate;
    ASSERT_FALSE(rate > 0 && OutputContradicted(r)) << i;
    speeds += rate > 0 ? 1 : 0;
    contradicted += OutputContradicted(r) ? 1 : 0;
  }
  EXPECT_GT(speeds, 5'000);
  EXPECT_GT(contradicted, 5'000);
}

TEST(UsageDoubts, EveryHostileOkCallIsBookedOnce) {
  constexpr std::uint64_t kSeed = 20261201;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Rng rng(kSeed);
  StepIngest ingest = MakeIngest();
  std::uint64_t ok = 0;
  std::uint64_t with_speed = 0;
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    CallRecord r = test::AnyRecord(&rng);
    r.step = 3;
    r.lane = r.tier = static_cast<std::uint8_t>(rng.Below(2));
    r.play = i;
    r.attempt = 1;
    r.flags |= kLastAttempt;
    r.outcome = Outcome::kOk;
    // Moved into the measured time, as it is.
    const StepNanos moved = Sec(12 + 0.01 * i) - r.released;
    for (StepNanos* at : {&r.sent, &r.first_token, &r.last_token}) {
      if (*at != kAbsentNanos) *at += moved;
    }
    r.end += moved;
    r.first_released = r.released = r.released + moved;
    ingest.Add(r);
    ++ok;
    if (HasSpeed(r)) ++with_speed;
  }
  const StepEvidence e = ingest.Close({});
  std::uint64_t one_chunk = 0;
  std::uint64_t rated = 0;
  for (const CellCounts& cell : e.cells) {
    one_chunk += cell.rate_one_chunk;
    rated += cell.rate_n;
  }
  EXPECT_EQ(rated, with_speed);
  EXPECT_EQ(e.rate_mtok_s.count(), with_speed);
  EXPECT_GE(e.rate_mtok_s.min(), 0);
  EXPECT_GT(with_speed, 500u);
  // A call in one chunk needs no usage to be one, so the two overlap; nothing falls between them.
  EXPECT_LE(ok, rated + one_chunk + e.usage_missing + e.fidelity.doubts.contradicted());
}

}  // namespace
}  // namespace plimsoll
