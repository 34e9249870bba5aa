#include "common/corpus/trace_flat.h"

#include <gmock/gmock.h>

#include "tests/common/corpus/trace_json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// A title call; the main conversation; two agents side by side, told apart by their prompts, the
// second of which still runs when the main one goes on.
Json MakeTrace() {
  Json trace = {{"id", "x"}, {"block_size", 64}, {"hash_id_scope", "global"}};
  trace["requests"] = {TraceCallJson(0, "s", 70, {100}, 1, "small"),
                       TraceCallJson(2, "s", 640, {1, 2, 3, 4}, 3),
                       TraceCallJson(5.2, "s", 330, {50, 51, 52}, 4, "small"),
                       TraceCallJson(5.3, "s", 330, {50, 61, 62}, 20, "small"),
                       TraceCallJson(9.5, "s", 400, {50, 51, 52, 53}, 2, "small"),
                       TraceCallJson(12, "s", 900, {1, 2, 3, 4, 5}, 3),
                       TraceCallJson(30, "s", 960, {1, 2, 8, 9}, 3)};
  return trace;
}

TEST(TraceFlat, SplitsOverlappingCallsByTheirPrompts) {
  const Recording recording = ReadAll(MakeTrace().dump());
  EXPECT_EQ(recording.form, TraceForm::kFlat);
  const Session& session = recording.sessions.at(0).session;
  // The main conversation has most of the tokens; the title is no part of it.
  EXPECT_THAT(ColumnOf(session, &Call::stream), ElementsAre(1, 0, 2, 3, 2, 0, 0));
  EXPECT_EQ(NoteCount(recording.notes, "side conversations"), 3u);
}

TEST(TraceFlat, AStreamGatesOnlyWhatWaitedForIt) {
  const Session session = ReadOne(MakeTrace());
  ASSERT_EQ(session.streams.size(), 4u);
  EXPECT_EQ(session.streams[0].start_offset_ms, 2000u);
  EXPECT_EQ(session.streams[1].parent_call, -1);
  EXPECT_EQ(session.streams[1].join_call, -1);
  EXPECT_EQ(session.streams[2].parent_call, 1);
  EXPECT_EQ(session.streams[2].join_call, 5);
  EXPECT_EQ(session.streams[2].start_offset_ms, 200u);
  EXPECT_EQ(session.streams[3].parent_call, 1);
  EXPECT_EQ(session.streams[3].join_call, -1) << "the main conversation went on meanwhile";
  EXPECT_EQ(session.calls[5].delay_ms, 500u) << "after the agent's end at 11.5 s";
}

TEST(TraceFlat, UnreliableIdsNeverStateMoreThanTheyShow) {
  Json trace = MakeTrace();
  trace["requests"][0]["hash_ids"] = {100, 101, 102};
  const Recording recording = ReadAll(trace.dump());
  const Session& session = recording.sessions.at(0).session;
  EXPECT_EQ(NoteCount(recording.notes, "more hash_ids"), 1u);
  EXPECT_EQ(NoteCount(recording.notes, "fewer hash_ids"), 6u);
  EXPECT_EQ(session.calls[0].blocks(), 1u);
  // All four ids of the first main call are kept, so its ten blocks are; the last keeps two ids.
  EXPECT_EQ(session.calls[5].kept_blocks, 10u);
  EXPECT_EQ(session.calls[6].kept_blocks, 2u);
}

TEST(TraceFlat, EqualEvidenceGoesToTheLatest) {
  std::vector<TraceCall> calls(3);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    calls[i].start_ms = static_cast<std::int64_t>(i) * 10;
    calls[i].service_ms = 15;
    calls[i].ids = {1};
  }
  calls[2].start_ms = 100;
  EXPECT_THAT(SplitByPrefix(calls, 0), ElementsAre(ElementsAre(0u), ElementsAre(1u, 2u)));
  calls[2].model = 1;
  EXPECT_EQ(SplitByPrefix(calls, 0).size(), 3u) << "another model's prompts share no cache";
  calls[2].model = 0;
  calls[2].ids = {2};
  EXPECT_EQ(SplitByPrefix(calls, 0).size(), 3u) << "no evidence";
}

TEST(TraceFlat, CallsWithAnEmptyPromptAreDropped) {
  Json trace = MakeTrace();
  trace["requests"][4]["in"] = 0;
  const Recording recording = ReadAll(trace.dump());
  EXPECT_EQ(recording.sessions.at(0).session.calls.size(), 6u);
  EXPECT_EQ(NoteCount(recording.notes, "empty prompt"), 1u);
}

TEST(TraceFlat, SaysWhatIsWrong) {
  Json trace = MakeTrace();
  trace["requests"][4]["t"] = 1;
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("requests[4].t: time runs backward"));
  trace = MakeTrace();
  trace["requests"][4]["hash_ids"] = {50, 52, 51};
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("requests[4].hash_ids[1]: broken chain"));
  trace = MakeTrace();
  trace["requests"][4].erase("model");
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("requests[4].model: missing"));
  trace["requests"][4] = 5;
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("requests[4]: expected an object"));
}

}  // namespace
}  // namespace plimsoll
