// What ingest counts for the suspicion list.
#include "gtest/gtest.h"
#include "tests/coordinator/ingest/step_builder.h"

namespace plimsoll {
namespace {

CallRecord WithStatus(CallRecord record, std::uint16_t status, bool retry_after = false) {
  record.http_status = status;
  if (retry_after) record.answer |= kRetryAfterSeen;
  return record;
}

TEST(SuspicionCounts, AttemptsOfTheWarmUpAreCountedApart) {
  StepIngest ingest = MakeIngest();
  for (const double at : {-1.0, 0.0, 9.9, 10.0, 69.9, 70.0}) ingest.Add(OkCall(at));
  const SuspicionCounts s = ingest.Close({}).suspicion;
  EXPECT_EQ(s.warm_up_attempts, 2u);
  EXPECT_EQ(s.measured_attempts, 2u);
}

TEST(SuspicionCounts, RefusalsUnderAnotherName) {
  StepIngest ingest = MakeIngest();
  ingest.Add(WithStatus(OkCall(12), 200));
  ingest.Add(WithStatus(FailedCall(13, Outcome::kRefused), 429, true));
  ingest.Add(WithStatus(FailedCall(14, Outcome::kHttpError), 500));
  SuspicionCounts s = ingest.SoFar({}).suspicion;
  EXPECT_EQ(
      s.refusals_ok + s.refusals_failed + s.ok_with_other_status + s.refused_with_other_status, 0u);
  ingest.Add(WithStatus(OkCall(15), 200, true));
  ingest.Add(WithStatus(OkCall(16), 503));
  ingest.Add(WithStatus(FailedCall(17, Outcome::kHttpError), 500, true));
  ingest.Add(WithStatus(FailedCall(18, Outcome::kDeadline), 429));
  ingest.Add(WithStatus(FailedCall(19, Outcome::kStreamError), 429));
  ingest.Add(WithStatus(FailedCall(20, Outcome::kRefused), 502));
  ingest.Add(WithStatus(OkCall(5), 429));  // Of the warm-up.
  s = ingest.Close({}).suspicion;
  EXPECT_EQ(s.refusals_ok, 2u);
  EXPECT_EQ(s.refusals_failed, 3u);
  EXPECT_EQ(s.ok_with_other_status, 1u);
  EXPECT_EQ(s.refused_with_other_status, 1u);
}

TEST(SuspicionCounts, CacheHitsAreThoseOfCallsThatTheForecastKnows) {
  const CacheForecast forecast = {{0, 320}, {64}};
  StepIngest ingest = MakeIngest();
  const auto call = [&](double at, std::uint32_t session, std::uint32_t index) {
    CallRecord r = OkCall(at, index);
    r.session = session;
    r.tokens_planned = 480;
    return r;
  };
  ingest.Add(call(11, 0, 0));  // Before anybody said what to expect.
  ingest.Expect(forecast);
  ingest.Add(call(12, 0, 0));
  ingest.Add(call(13, 0, 1));
  ingest.Add(call(14, 1, 0));
  ingest.Add(call(15, 1, 1));  // No such call,
  ingest.Add(call(16, 2, 0));  // no such session.
  CallRecord silent = call(17, 0, 1);
  silent.tokens_cached = kAbsentTokens;
  ingest.Add(silent);
  CallRecord failed = call(18, 0, 1);
  failed.outcome = Outcome::kTruncated;
  ingest.Add(failed);
  const SuspicionCounts s = ingest.Close({}).suspicion;
  EXPECT_EQ(s.cache_n, 3u);
  EXPECT_EQ(s.tokens_planned, 3 * 480u);
  EXPECT_EQ(s.tokens_predicted, 0u + 320 + 64);
  EXPECT_EQ(s.tokens_reported, 3 * 500u);
  EXPECT_EQ(s.tokens_cached, 3 * 400u);
}

TEST(SuspicionCounts, EachBlockHasItsMedianOverAllLanes) {
  StepIngest ingest = MakeIngest();
  for (int i = 0; i < 3; ++i) {
    CallRecord r = OkCall(12 + i);
    r.first_token = r.released + Sec(1 + i);
    r.last_token = r.end = r.first_token + Sec(1);
    r.lane = static_cast<std::uint32_t>(i % 2);
    r.tier = static_cast<std::uint8_t>(i % 2);
    ingest.Add(r);
  }
  ingest.Add(FailedCall(35, Outcome::kHttpError));  // A block without a first token.
  ingest.Add(OkCall(55));
  const std::vector<BlockFigures> blocks = ingest.Close({}).suspicion.blocks;
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].block, 0u);
  EXPECT_EQ(blocks[0].ttft_n, 3u);
  EXPECT_NEAR(static_cast<double>(blocks[0].ttft_p50_ns), 2e9, 2e9 / 256);
  EXPECT_EQ(blocks[1].block, 2u);
  EXPECT_EQ(blocks[1].ttft_n, 1u);
}

}  // namespace
}  // namespace plimsoll
