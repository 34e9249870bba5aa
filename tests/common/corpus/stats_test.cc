#include "common/corpus/stats.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

Session MakeSession() {
  Session session;
  session.streams.resize(2);
  session.streams[1] = {.parent_call = 0};
  session.calls = {
      {.tokens_in = 200, .tokens_out = 5, .start_ms = 1000, .service_ms = 2000},
      {.stream = 1, .tokens_in = 101, .tokens_out = 6, .start_ms = 2000, .service_ms = 3000},
      {.ref = 0, .kept_blocks = 3, .tokens_in = 301, .start_ms = 3000, .service_ms = 1500},
      {.ref = 2, .kept_blocks = 2, .tokens_in = 150, .start_ms = 9000, .service_ms = 0}};
  return session;
}

TEST(Stats, CountsASession) {
  const SessionStats stats = ComputeStats(MakeSession());
  EXPECT_EQ(stats.requests, 4u);
  EXPECT_EQ(stats.main_requests, 3u);
  EXPECT_EQ(stats.subagent_groups, 1u);
  EXPECT_EQ(stats.subagent_requests, 1u);
  EXPECT_EQ(stats.max_prompt, 301u);
  EXPECT_EQ(stats.first_prompt, 200u);
  EXPECT_EQ(stats.input_tokens, 752u);
  EXPECT_EQ(stats.output_tokens, 11u);
  EXPECT_EQ(stats.block_refs, 3u + 1 + 4 + 2);
  EXPECT_EQ(stats.unique_blocks, 3u + 1 + 1);
  EXPECT_EQ(stats.prefix_hit_blocks, 5u);
  EXPECT_EQ(stats.duration_s, 8u);
}

TEST(Stats, IntervalsAreHalfOpen) {
  Session session = MakeSession();
  // [1, 3) and [2, 5); [3, 4.5) starts as the first ends.
  EXPECT_EQ(ComputeStats(session).max_in_flight, 2u);
  session.calls[0].service_ms = 2001;
  EXPECT_EQ(ComputeStats(session).max_in_flight, 3u);
}

TEST(Stats, MedianOfAnEvenCountIsRoundedHalfToEven) {
  Session session = MakeSession();
  EXPECT_EQ(MedianPrompt(session), 175.0);
  session.calls[3].tokens_in = 151;  // 175.5
  EXPECT_EQ(ComputeStats(session).median_prompt, 176u);
  session.calls[3].tokens_in = 149;  // 174.5
  EXPECT_EQ(ComputeStats(session).median_prompt, 174u);
}

TEST(Stats, DurationIsRoundedToTheNearestSecond) {
  Session session = MakeSession();
  session.calls[3].service_ms = 499;
  EXPECT_EQ(ComputeStats(session).duration_s, 8u);
  session.calls[3].service_ms = 501;
  EXPECT_EQ(ComputeStats(session).duration_s, 9u);
}

TEST(Stats, SpreadOfASession) {
  CorpusSpread spread;
  AddSpread(MakeSession(), &spread);
  EXPECT_EQ(spread.calls, std::vector<double>{4});
  // Each stream's first call appends to nothing: 301 − 3 blocks, 150 − 2 blocks.
  EXPECT_EQ(spread.appended, (std::vector<double>{109, 22}));
  EXPECT_EQ(spread.growth, (std::vector<double>{101, -151}));
  EXPECT_EQ(spread.rewrites, 1u) << "two blocks kept of four";
  EXPECT_EQ(spread.fan_outs, 1u);
  EXPECT_EQ(spread.max_in_flight, 2u);
  // Busy from 1 to 5 s, idle until 9, all calls together 6.5 s.
  EXPECT_DOUBLE_EQ(spread.busy_s, 4);
  EXPECT_DOUBLE_EQ(spread.idle_s, 4);
  EXPECT_DOUBLE_EQ(spread.in_flight_s, 6.5);
  EXPECT_DOUBLE_EQ(spread.hit_rate[0], 5 * 64 / 752.0);
}

TEST(Stats, IdleStretchesCountForAMinuteAtMost) {
  Session session = MakeSession();
  session.calls[3].start_ms = 900'000;
  CorpusSpread spread;
  AddSpread(session, &spread);
  EXPECT_DOUBLE_EQ(spread.idle_s, 60);
}

TEST(Stats, QuantilesInterpolate) {
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(Quantile({4}, 0.25), 4);
  EXPECT_EQ(Quantile({4, 1, 3, 2, 5}, 0.25), 2);
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(Quantile({1, 2}, 1), 2);
}

TEST(Stats, TiersIncludeTheirBounds) {
  Corpus corpus;
  for (const std::uint32_t tokens : {10u, 11u, 12u, 13u, 14u}) {
    Session session;
    session.streams.resize(1);
    session.calls = {{.tokens_in = tokens}};
    corpus.sessions.push_back(session);
  }
  const TierBounds bounds = QuartileBounds(corpus);
  EXPECT_EQ(bounds.light_max, 11);
  EXPECT_EQ(bounds.heavy_min, 13);
  AssignTiers(bounds, &corpus);
  std::string tiers;
  for (const Session& session : corpus.sessions) tiers += NameOf(session.tier)[0];
  EXPECT_EQ(tiers, "llmhh");
}

}  // namespace
}  // namespace plimsoll
