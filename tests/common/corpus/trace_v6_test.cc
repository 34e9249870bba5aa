#include "common/corpus/trace_v6.h"

#include <gmock/gmock.h>

#include "tests/common/corpus/trace_json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// Two turns, each a streamed try and its plain call; a subagent (7 to 15 s) that the second one
// waits for although the file has its entry between the second's two; a try that nothing followed;
// a plain call that no try preceded.
Json MakeTrace() {
  Json trace = {{"id", "x"},
                {"block_size", 64},
                {"hash_id_scope", "global"},
                {"tool_tokens", 100},
                {"system_tokens", 28}};
  Json agent = {{"t", 15.0}, {"type", "subagent"}, {"status", "completed"}, {"duration_ms", 8000}};
  agent["requests"] = {TraceCallJson(0, "s", 130, {10, 11}, 2, "small"),
                       TraceCallJson(2, "n", 130, {10, 11}, 3, "small")};
  trace["requests"] = {TraceCallJson(0, "s", 200, {1, 2, 3}, 2),
                       TraceCallJson(2, "n", 200, {1, 2, 3}, 4),
                       TraceCallJson(15, "s", 330, {1, 2, 3, 4, 5}, 1),
                       agent,
                       TraceCallJson(16, "n", 330, {1, 2, 3, 4, 5}, 3),
                       TraceCallJson(30, "s", 400, {1, 2, 3, 4, 5, 6}, 2),
                       TraceCallJson(40, "n", 460, {1, 2, 3, 4, 5, 6, 7}, 2)};
  trace["requests"][0]["input_types"] = {"text"};
  trace["requests"][2]["input_types"] = {"tool_result"};
  trace["requests"][1]["out"] = 11;
  trace["requests"][1]["stop"] = "tool_use";
  return trace;
}

TEST(TraceV6, KeepsThePlainCallOfEachTurn) {
  const Recording recording = ReadAll(MakeTrace().dump());
  EXPECT_EQ(recording.form, TraceForm::kV6);
  ASSERT_EQ(recording.sessions.size(), 1u);
  const Session& session = recording.sessions[0].session;
  EXPECT_THAT(ColumnOf(session, &Call::tokens_in), ElementsAre(200, 130, 330, 400, 460));
  EXPECT_EQ(session.calls[0].tokens_out, 11u);
  EXPECT_EQ(session.calls[0].service_ms, 4000u);
  EXPECT_EQ(NoteCount(recording.notes, "first tries dropped"), 3u);
}

TEST(TraceV6, TheTrySaysTheKindOfTurnAndThePlainCallHowItEnded) {
  const Session session = ReadOne(MakeTrace());
  EXPECT_EQ(session.calls[0].flags, kUserTurn | kStopToolUse);
  EXPECT_EQ(session.calls[2].flags, kToolTurn);
}

TEST(TraceV6, DelaysRunToTheFirstTry) {
  const Session session = ReadOne(MakeTrace());
  // The second turn was asked at 15, as the subagent ended (7 + 2 + 3 = 12): 3 s later. The third
  // at 30 after 19; the fourth at 40 after 32, with no try of its own.
  EXPECT_THAT(ColumnOf(session, &Call::delay_ms), ElementsAre(0, 0, 3000, 11000, 8000));
}

TEST(TraceV6, SubagentsArePlacedByTheirTimes) {
  const Session session = ReadOne(MakeTrace());
  ASSERT_EQ(session.streams.size(), 2u);
  EXPECT_EQ(session.streams[1].parent_call, 0);
  EXPECT_EQ(session.streams[1].join_call, 2);
  EXPECT_EQ(session.streams[1].start_offset_ms, 1000u);
  EXPECT_EQ(session.streams[0].prefix_blocks, 2u);
}

TEST(TraceV6, ATryOfAnotherPromptIsNoTwin) {
  Json trace = MakeTrace();
  trace["requests"][1]["hash_ids"] = {1, 2, 8};
  EXPECT_EQ(ReadOne(trace).calls.size(), 6u);
}

TEST(TraceV6, TwoPlainCallsOfOnePromptAreTwoTurns) {
  Json trace = MakeTrace();
  trace["requests"][0]["type"] = "n";
  EXPECT_EQ(ReadOne(trace).calls.size(), 6u);
}

TEST(TraceV1, HasNoScopeAndNoTimesAndAnUnknownType) {
  Json trace = MakeTrace();
  trace.erase("hash_id_scope");
  for (Json& request : trace["requests"]) {
    request.erase("api_time");
    if (!request.contains("requests")) continue;
    for (Json& inner : request["requests"]) inner.erase("api_time");
  }
  trace["requests"][5]["type"] = "?";
  const Recording recording = ReadAll(trace.dump());
  EXPECT_EQ(recording.form, TraceForm::kV1);
  ASSERT_EQ(recording.sessions.size(), 1u);
  EXPECT_EQ(recording.sessions[0].session.calls.size(), 5u);
  for (const Call& call : recording.sessions[0].session.calls) {
    EXPECT_NE(call.flags & kServiceImputed, 0);
  }
}

TEST(TraceV6, SaysWhatIsWrongAndOnWhichLine) {
  Json trace = MakeTrace();
  trace["requests"][3]["status"] = "lost";
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("f:1: requests[3].status: \"lost\" is neither"));
  trace = MakeTrace();
  trace["requests"][4]["in"] = -1;
  const std::string text = trace.dump(1);
  const std::string why = WhyRefused(text);
  EXPECT_THAT(why, HasSubstr("requests[4].in: -1 is negative"));
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("-1")), '\n') +
      1;
  EXPECT_THAT(why, testing::StartsWith("f:" + std::to_string(line) + ": "));
  trace = MakeTrace();
  trace["requests"][3]["requests"][1]["type"] = "x";
  EXPECT_THAT(WhyRefused(trace.dump()),
              HasSubstr("requests[3].requests[1].type: unknown type \"x\""));
  trace = MakeTrace();
  trace["requests"][4]["hash_ids"] = {1, 2, 3, 4};
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("requests[4].hash_ids: 4 ids for a prompt"));
  trace = MakeTrace();
  trace["totals"] = {{"parent_tokens", {{"input", 1}, {"output", 1}}}};
  EXPECT_THAT(WhyRefused(trace.dump()), HasSubstr("totals.parent_tokens.input: says 1"));
}

}  // namespace
}  // namespace plimsoll
