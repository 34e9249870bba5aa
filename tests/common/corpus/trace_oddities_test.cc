// The oddities of the public recordings, each in a minimal file.
#include <gmock/gmock.h>

#include "common/corpus/copies.h"
#include "common/corpus/stats.h"
#include "tests/common/corpus/trace_json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

Json MakeTrace(std::vector<Json> calls) {
  Json trace = {{"id", "x"},         {"models", {"big"}},
                {"block_size", 64},  {"hash_id_scope", "local"},
                {"tool_tokens", 64}, {"system_tokens", 0}};
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  for (const Json& call : calls) {
    in += call["in"].get<std::uint64_t>();
    out += call["out"].get<std::uint64_t>();
  }
  const Json sum = {{"input", in}, {"output", out}};
  trace["requests"] = std::move(calls);
  trace["totals"] = {{"parent_tokens", sum},
                     {"subagent_tokens", {{"input", 0}, {"output", 0}}},
                     {"combined_tokens", sum},
                     {"subagent_count", 0}};
  return trace;
}

TEST(Oddities, ThinkTimeHoldsTheDeletedFirstTryOfAPlainCall) {
  // Gap 20 s; the call before took 5 s, and this one 4 s, twice.
  Json call = TraceCallJson(20, "n", 130, {1, 2}, 4);
  call["think_time"] = 15;
  const Session session = ReadOne(MakeTrace({TraceCallJson(0, "n", 128, {1, 2}, 5), call}));
  EXPECT_EQ(session.calls[1].delay_ms, 11'000u);
}

TEST(Oddities, ThinkTimeBeyondTheGapIsIgnored) {
  Json late = TraceCallJson(29, "s", 130, {1, 2}, 3);
  late["think_time"] = 6'699;  // Counted from the last timed call, an hour before.
  const Session session = ReadOne(MakeTrace(
      {TraceCallJson(0, "s", 128, {1, 2}, 5), TraceCallJson(20, "s", 128, {1, 2}, -1), late}));
  EXPECT_EQ(session.calls[2].delay_ms, 5'000u) << "29 − 20 − the imputed 4 s (median of 5 and 3)";
}

TEST(Oddities, ApiTimeMissingIsTheMedianAtMostTheGap) {
  const Session session = ReadOne(
      MakeTrace({TraceCallJson(0, "s", 128, {1, 2}, -1), TraceCallJson(2, "s", 128, {1, 2}, 7),
                 TraceCallJson(20, "s", 128, {1, 2}, -1)}));
  EXPECT_THAT(ColumnOf(session, &Call::service_ms), ElementsAre(2000, 7000, 7000));
  EXPECT_NE(session.calls[0].flags & kServiceImputed, 0);
}

TEST(Oddities, ThinkTimeMissingOrNullIsNoLoss) {
  Json null = TraceCallJson(20, "s", 130, {1, 2}, 4);
  null["think_time"] = nullptr;
  EXPECT_EQ(ReadOne(MakeTrace({TraceCallJson(0, "s", 128, {1, 2}, 5), null})).calls[1].delay_ms,
            15'000u);
}

TEST(Oddities, AnAnswerOfNoTokensStays) {
  Json silent = TraceCallJson(0, "s", 128, {1, 2}, 300.03);
  silent["out"] = 0;
  const Session session = ReadOne(MakeTrace({silent}));
  EXPECT_EQ(session.calls[0].tokens_out, 0u);
  EXPECT_EQ(session.calls[0].service_ms, 300'030u) << "a time-out of the recording's client";
}

TEST(Oddities, CallsThatOverlapTheNextAreSentInSequence) {
  const Session session = ReadOne(MakeTrace(
      {TraceCallJson(0, "s", 128, {1, 2}, 30), TraceCallJson(9, "s", 192, {1, 2, 3}, 2)}));
  EXPECT_EQ(session.streams.size(), 1u);
  EXPECT_EQ(session.calls[1].delay_ms, 0u);
  EXPECT_EQ(ComputeStats(session).max_in_flight, 2u);
}

TEST(Oddities, GapsOfDaysAndSessionsOfFiveStay) {
  const Session session = ReadOne(MakeTrace(
      {TraceCallJson(0, "s", 128, {1, 2}, 5), TraceCallJson(440'280, "s", 128, {1, 2}, 5)}));
  EXPECT_EQ(session.calls[1].delay_ms, 440'275'000u);
  EXPECT_EQ(ComputeStats(session).duration_s, 440'285u);
}

TEST(Oddities, SeveralKindsAtOnceAreARewrite) {
  Json rewrite = TraceCallJson(9, "n", 128, {1, 9}, 1);
  rewrite["input_types"] = {"text", "tool_result", "thinking"};
  const Session session =
      ReadOne(MakeTrace({TraceCallJson(0, "n", 320, {1, 2, 3, 4, 5}, 1), rewrite}));
  EXPECT_EQ(session.calls[1].flags, kRewrite);
  EXPECT_EQ(session.calls[1].kept_blocks, 1u);
}

TEST(Oddities, ModelsAreReadOfTheCallsNotOfTheList) {
  const Recording recording = ReadAll(MakeTrace({TraceCallJson(0, "s", 128, {1, 2}, 5),
                                                 TraceCallJson(9, "s", 128, {3, 4}, 5, "small")})
                                          .dump());
  EXPECT_THAT(recording.sessions.at(0).models, ElementsAre("big", "small"));
}

TEST(Oddities, IdsNeedNotBeNumberedByAppearance) {
  const Session session = ReadOne(MakeTrace(
      {TraceCallJson(0, "s", 192, {1, 2050, 2051}, 5), TraceCallJson(9, "s", 192, {1, 2, 3}, 5)}));
  EXPECT_EQ(session.calls[1].kept_blocks, 1u);
}

TEST(Oddities, PromptsOfNineHundredThousandTokens) {
  std::vector<int> ids(894'371 / 64);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int>(i) + 1;
  EXPECT_EQ(ReadOne(MakeTrace({TraceCallJson(0, "s", 894'371, ids, 60)})).calls[0].blocks(),
            13'974u);
}

TEST(Oddities, PromptsOfWholeBlocksHaveNoTail) {
  EXPECT_EQ(ReadOne(MakeTrace({TraceCallJson(0, "s", 128, {1, 2}, 1)})).calls[0].blocks(), 2u);
  EXPECT_THAT(WhyRefused(MakeTrace({TraceCallJson(0, "s", 128, {1}, 1)}).dump()),
              HasSubstr("requests[0].hash_ids: 1 ids for a prompt of 128 tokens"));
}

TEST(Oddities, WhatNeverHappensIsRefused) {
  EXPECT_THAT(WhyRefused(MakeTrace({TraceCallJson(0, "s", 0, {}, 1)}).dump()),
              HasSubstr("an empty prompt"));
  EXPECT_THAT(
      WhyRefused(
          MakeTrace({TraceCallJson(9, "s", 64, {1}, 1), TraceCallJson(2, "s", 64, {1}, 1)}).dump()),
      HasSubstr("time runs backward"));
  EXPECT_THAT(WhyRefused(MakeTrace({TraceCallJson(0, "s", 128, {1, 1}, 1)}).dump()),
              HasSubstr("broken chain"));
}

TEST(Oddities, CopiesWithOtherIdsAreFoundByTheirLengths) {
  Corpus corpus;
  for (const char* id : {"trace_0382", "trace_0384"}) {
    Json trace = MakeTrace(
        {TraceCallJson(0, "s", 128, {1, 2}, 5), TraceCallJson(9, "s", 192, {1, 2, 3}, 5)});
    trace["id"] = id;
    corpus.sessions.push_back(ReadOne(trace));
  }
  const std::vector<Copy> copies = FindCopies(corpus);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_TRUE(copies[0].exact);
}

TEST(Oddities, KeysOverruleLengths) {
  Corpus corpus;
  corpus.sessions.resize(2);
  for (Session& session : corpus.sessions) session.calls = {{.tokens_in = 9}, {.tokens_in = 9}};
  EXPECT_TRUE(FindCopies(corpus, {{1, 2}, {3, 4}}).empty());
  EXPECT_EQ(FindCopies(corpus, {{1, 2}, {3, 2}}).size(), 1u);
}

}  // namespace
}  // namespace plimsoll
