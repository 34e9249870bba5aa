#include "common/corpus/trace_weka.h"

#include <gmock/gmock.h>

#include "tests/common/corpus/trace_json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

Json Bare(double t, const char* type, int in, std::vector<int> ids, double api_time) {
  Json call = TraceCallJson(t, type, in, std::move(ids), api_time);
  for (const char* key : {"input_types", "output_types", "stop"}) call.erase(key);
  call["think_time"] = nullptr;
  return call;
}

// Ids from 0; two subagents with absolute times, the second of which outlives the main
// conversation's next call.
Json MakeTrace() {
  Json trace = {{"id", "x"}, {"block_size", 64}, {"hash_id_scope", "local"}};
  Json first = {{"t", 5.25}, {"type", "subagent"}, {"duration_ms", 4000}, {"status", "completed"}};
  first["requests"] = {Bare(5.25, "s", 128, {20, 21}, 2), Bare(7.5, "s", 192, {20, 21, 22}, 1)};
  Json second = {{"t", 5.5}, {"type", "subagent"}, {"duration_ms", 9000}, {"status", "completed"}};
  second["requests"] = {Bare(5.5, "s", 128, {30, 31}, 9)};
  trace["requests"] = {Bare(0, "s", 128, {0, 1}, 5), first, second, Bare(9, "s", 192, {0, 1, 2}, 4),
                       Bare(16.5, "s", 256, {0, 1, 2, 3}, 1)};
  return trace;
}

TEST(TraceWeka, InnerTimesAreAbsolute) {
  const Recording recording = ReadAll(MakeTrace().dump());
  EXPECT_EQ(recording.form, TraceForm::kWeka);
  const Session& session = recording.sessions.at(0).session;
  EXPECT_THAT(ColumnOf(session, &Call::start_ms), ElementsAre(0, 5250, 5500, 7500, 9000, 16500));
  EXPECT_THAT(ColumnOf(session, &Call::kept_blocks), ElementsAre(0, 0, 0, 2, 2, 3));
  EXPECT_EQ(NoteCount(recording.notes, "time is their end"), 0u);
}

TEST(TraceWeka, JoinsFollowFromTheEnds) {
  const Session session = ReadOne(MakeTrace());
  ASSERT_EQ(session.streams.size(), 3u);
  EXPECT_EQ(session.streams[1].parent_call, 0);
  EXPECT_EQ(session.streams[1].start_offset_ms, 250u);
  EXPECT_EQ(session.streams[1].join_call, 4);
  EXPECT_EQ(session.streams[2].join_call, 5);
  EXPECT_EQ(session.calls[4].delay_ms, 500u) << "9 s less the subagent's end at 8.5 s";
}

TEST(TraceWeka, AsyncOnesGateNothing) {
  Json trace = MakeTrace();
  trace["requests"][1]["status"] = "async_launched";
  EXPECT_EQ(ReadOne(trace).streams[1].join_call, -1);
}

TEST(TraceWeka, InnerTimesBeforeTheEntrysAreRelativeAndTheEntrysIsTheEnd) {
  Json trace = MakeTrace();
  trace["requests"][1]["t"] = 9.25;
  trace["requests"][1]["requests"][0]["t"] = 0;
  trace["requests"][1]["requests"][1]["t"] = 2.25;
  const Recording recording = ReadAll(trace.dump());
  EXPECT_THAT(ColumnOf(recording.sessions.at(0).session, &Call::start_ms),
              ElementsAre(0, 5250, 5500, 7500, 9000, 16500));
  EXPECT_EQ(NoteCount(recording.notes, "time is their end"), 1u);
}

TEST(TraceWeka, MainCallsThatOverlapLeaveTheSequence) {
  Json trace = MakeTrace();
  trace["requests"].push_back(Bare(17, "s", 64, {40}, 5));
  const Recording recording = ReadAll(trace.dump());
  EXPECT_EQ(recording.sessions.at(0).session.streams.size(), 4u);
  EXPECT_EQ(NoteCount(recording.notes, "overlap"), 1u);
}

TEST(TraceWeka, SaysWhatIsWrong) {
  Json trace = MakeTrace();
  trace["requests"][1]["status"] = 3;
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("requests[1].status: expected a string"));
  trace = MakeTrace();
  trace["requests"][1]["requests"][0] = "x";
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("requests[1].requests[0]: expected an object"));
  trace = MakeTrace();
  trace["requests"][3]["hash_ids"] = {0};
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("requests[3].hash_ids: 1 ids"));
}

}  // namespace
}  // namespace plimsoll
