// ParseTraceV8 on a small trace made here, and on one broken copy of it for each way a file can be
// wrong. Recorded traces are compared in tests/coordinator/cli.
#include "common/corpus/trace_v8.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

Json MakeCall(double t, const char* type, int in, std::vector<int> ids, double api_time) {
  Json call = {{"t", t},
               {"type", type},
               {"model", "big"},
               {"in", in},
               {"out", 10},
               {"hash_ids", ids},
               {"input_types", {"tool_result"}},
               {"output_types", {"text"}},
               {"stop", "tool_use"}};
  if (api_time >= 0) call["api_time"] = api_time;
  return call;
}

Json MakeSubagent(double t, const char* status, Json duration_ms, std::vector<Json> calls) {
  for (Json& call : calls) call["model"] = "small";
  return {{"t", t},
          {"type", "subagent"},
          {"status", status},
          {"duration_ms", duration_ms},
          {"tool_tokens", 70},
          {"system_tokens", 60},
          {"requests", calls}};
}

void SetTotals(Json* trace) {
  std::uint64_t sums[2][2] = {};
  std::uint64_t subagents = 0;
  const auto add = [](const Json& call, std::uint64_t* sum) {
    sum[0] += call["in"].get<std::uint64_t>();
    sum[1] += call["out"].get<std::uint64_t>();
  };
  for (const Json& request : (*trace)["requests"]) {
    if (request["type"] != "subagent") {
      add(request, sums[0]);
      continue;
    }
    ++subagents;
    for (const Json& call : request["requests"]) add(call, sums[1]);
  }
  const auto tokens = [](std::uint64_t in, std::uint64_t out) {
    return Json{{"input", in}, {"output", out}};
  };
  (*trace)["totals"] = {
      {"parent_tokens", tokens(sums[0][0], sums[0][1])},
      {"subagent_tokens", tokens(sums[1][0], sums[1][1])},
      {"combined_tokens", tokens(sums[0][0] + sums[1][0], sums[0][1] + sums[1][1])},
      {"subagent_count", subagents}};
}

// A call; a fan-out of a completed subagent (6 to 13 s) and an async one; the call that joins; two
// more, the first without a duration.
Json MakeTrace() {
  Json trace = {{"id", "trace_x"},          {"models", {"big"}},  {"block_size", 64},
                {"hash_id_scope", "local"}, {"tool_tokens", 100}, {"system_tokens", 40}};
  trace["requests"] = {
      MakeCall(0, "n", 200, {1, 2, 3}, 5),
      MakeSubagent(20, "completed", 14000,
                   {MakeCall(0, "n", 130, {10, 11}, 2), MakeCall(4, "n", 200, {10, 11, 12}, 3)}),
      MakeSubagent(6.1, "async_launched", nullptr, {MakeCall(0, "n", 200, {10, 11, 13}, 60)}),
      MakeCall(30, "n", 330, {1, 2, 3, 4, 5}, 4),
      MakeCall(40, "s", 340, {1, 2, 3, 4, 5}, -1),
      MakeCall(43, "s", 200, {1, 2, 6}, 2)};
  trace["requests"][0]["input_types"] = {"text"};
  trace["requests"][5]["input_types"] = {"text", "tool_result", "thinking"};
  trace["requests"][5]["stop"] = "";
  SetTotals(&trace);
  return trace;
}

ParsedTrace Parse(const Json& trace) {
  StatusOr<ParsedTrace> parsed = ParseTraceV8(trace.dump());
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return parsed.ok() ? *parsed : ParsedTrace();
}

template <typename Field>
std::vector<std::int64_t> Column(const Session& session, Field Call::*field) {
  std::vector<std::int64_t> values;
  for (const Call& call : session.calls) values.push_back(call.*field);
  return values;
}

TEST(TraceV8, MergesStreamsByTrueStart) {
  const ParsedTrace parsed = Parse(MakeTrace());
  const Session& session = parsed.session;
  EXPECT_EQ(session.id, "trace_x");
  EXPECT_THAT(parsed.models, ElementsAre("big", "small"));
  ASSERT_EQ(session.calls.size(), 7u);
  EXPECT_THAT(Column(session, &Call::start_ms),
              ElementsAre(0, 6000, 6100, 10000, 30000, 40000, 43000));
  EXPECT_THAT(Column(session, &Call::stream), ElementsAre(0, 1, 2, 1, 0, 0, 0));
  EXPECT_THAT(Column(session, &Call::model), ElementsAre(0, 1, 1, 1, 0, 0, 0));
}

TEST(TraceV8, TurnsBlockIdsIntoReferences) {
  const Session session = Parse(MakeTrace()).session;
  // The async sibling shares two blocks with the other's first call; the rewrite keeps two.
  EXPECT_THAT(Column(session, &Call::ref), ElementsAre(-1, -1, 1, 1, 0, 4, 5));
  EXPECT_THAT(Column(session, &Call::kept_blocks), ElementsAre(0, 0, 2, 2, 3, 5, 2));
}

TEST(TraceV8, PrefersTheCallThatBroughtTheLongestPrefix) {
  Json trace = MakeTrace();
  trace["requests"].push_back(
      MakeCall(50, "s", 340, {1, 2, 3, 4, 5}, 2));  // Back before the rewrite.
  SetTotals(&trace);
  const Session session = Parse(trace).session;
  EXPECT_EQ(session.calls[7].ref, 4);
  EXPECT_EQ(session.calls[7].kept_blocks, 5u);
}

TEST(TraceV8, ImputesAbsentDurations) {
  const Session session = Parse(MakeTrace()).session;
  // Median of 5, 4 and 2 s is 4 s; the next call started after 3.
  EXPECT_THAT(Column(session, &Call::service_ms),
              ElementsAre(5000, 2000, 60000, 3000, 4000, 3000, 2000));
  EXPECT_EQ(session.calls[5].flags & kServiceImputed, kServiceImputed);
  EXPECT_EQ(session.calls[4].flags & kServiceImputed, 0);
}

TEST(TraceV8, DerivesDelaysFromTimes) {
  const Session session = Parse(MakeTrace()).session;
  // The join: 30 s − 13 s (the later of the parent's and the child's end) − 4 s (own first try).
  // Within the child: 10 − 8 − 3 is negative. "s" calls were tried once: 40 − 34, 43 − 43.
  EXPECT_THAT(Column(session, &Call::delay_ms), ElementsAre(0, 0, 0, 0, 13000, 6000, 0));
}

TEST(TraceV8, SubagentsStartAfterTheirParentAndGateItsNextCall) {
  const Session session = Parse(MakeTrace()).session;
  ASSERT_EQ(session.streams.size(), 3u);
  EXPECT_EQ(session.streams[0].parent_call, -1);
  EXPECT_EQ(session.streams[1].parent_call, 0);
  EXPECT_EQ(session.streams[1].start_offset_ms, 1000u);
  EXPECT_EQ(session.streams[1].join_call, 4);
  EXPECT_EQ(session.streams[2].parent_call, 0);
  EXPECT_EQ(session.streams[2].start_offset_ms, 1100u);
  EXPECT_EQ(session.streams[2].join_call, -1) << "async ones never gate";
}

TEST(TraceV8, SharedPrefixIsToolsAndSystem) {
  const Session session = Parse(MakeTrace()).session;
  EXPECT_EQ(session.streams[0].prefix_blocks, 2u);
  EXPECT_EQ(session.streams[0].prefix_class, MixKey(HashBytes("big"), 100, 40));
  EXPECT_EQ(session.streams[1].prefix_class, MixKey(HashBytes("small"), 70, 60));
  EXPECT_EQ(session.streams[2].prefix_class, session.streams[1].prefix_class);
}

TEST(TraceV8, SharedPrefixEndsWhereSiblingsPart) {
  Json trace = MakeTrace();
  trace["requests"][2]["requests"][0]["hash_ids"] = {10, 14, 15};
  const Session session = Parse(trace).session;
  EXPECT_EQ(session.streams[1].prefix_blocks, 1u);
  EXPECT_EQ(session.streams[2].prefix_blocks, 1u);
}

TEST(TraceV8, FlagsSayWhatATurnIs) {
  const Session session = Parse(MakeTrace()).session;
  EXPECT_EQ(session.calls[0].flags, kUserTurn | kStopToolUse);
  EXPECT_EQ(session.calls[4].flags, kToolTurn | kStopToolUse);
  EXPECT_EQ(session.calls[6].flags, kRewrite);
}

TEST(TraceV8, TrailingSubagentsKeepTheirDistanceButNotTheHole) {
  Json trace = MakeTrace();
  for (const double t : {90'000.0, 90'000.5}) {
    trace["requests"].push_back(
        MakeSubagent(t, "completed", 2000, {MakeCall(0, "n", 130, {10, 11}, 2)}));
  }
  SetTotals(&trace);
  const Session session = Parse(trace).session;
  ASSERT_EQ(session.streams.size(), 5u);
  EXPECT_EQ(session.streams[3].parent_call, 6);
  EXPECT_EQ(session.streams[3].join_call, -1);
  EXPECT_EQ(session.streams[3].start_offset_ms, 0u);
  EXPECT_EQ(session.streams[4].start_offset_ms, 500u);
  EXPECT_EQ(session.calls.back().start_ms, 89'998'500u) << "statistics keep the recorded times";
}

TEST(TraceV8, SubagentBeforeAnyCallStartsTheSession) {
  Json trace = MakeTrace();
  trace["requests"].insert(
      trace["requests"].begin(),
      MakeSubagent(5, "completed", 8000, {MakeCall(0, "n", 130, {10, 11}, 2)}));
  SetTotals(&trace);
  const Session session = Parse(trace).session;
  // It began three seconds before the file's zero, which moves.
  EXPECT_EQ(session.calls[0].stream, 1u);
  EXPECT_EQ(session.calls[1].start_ms, 3000u);
  EXPECT_EQ(session.streams[1].parent_call, -1);
  EXPECT_EQ(session.streams[1].join_call, 1);
}

TEST(TraceV8, SubagentWithoutCallsIsNoStream) {
  Json trace = MakeTrace();
  trace["requests"][2]["requests"] = Json::array();
  SetTotals(&trace);
  EXPECT_EQ(Parse(trace).session.streams.size(), 2u);
}

struct Broken {
  const char* name;
  std::function<void(Json*)> breaks;
  const char* message;
};

class TraceV8Broken : public testing::TestWithParam<Broken> {};

TEST_P(TraceV8Broken, SaysWhatAndWhere) {
  Json trace = MakeTrace();
  GetParam().breaks(&trace);
  const StatusOr<ParsedTrace> parsed = ParseTraceV8(trace.dump());
  ASSERT_FALSE(parsed.ok());
  const std::string message(MessageOf(parsed.status()));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

// Shorthand for the tables below: sets a field of request `r`, or of its nested call `n`.
std::function<void(Json*)> Set(int r, const char* key, const Json& value) {
  return [=](Json* trace) { (*trace)["requests"][r][key] = value; };
}
std::function<void(Json*)> SetNested(int r, int n, const char* key, const Json& value) {
  return [=](Json* trace) { (*trace)["requests"][r]["requests"][n][key] = value; };
}
std::function<void(Json*)> SetTop(const char* key, const Json& value) {
  return [=](Json* trace) { (*trace)[key] = value; };
}
std::function<void(Json*)> Erase(int r, const char* key) {
  return [=](Json* trace) { (*trace)["requests"][r].erase(key); };
}

INSTANTIATE_TEST_SUITE_P(
    All, TraceV8Broken,
    testing::Values(
        Broken{"NotAnObject", [](Json* trace) { *trace = Json::array(); }, "expected an object"},
        Broken{"IdMissing", [](Json* trace) { trace->erase("id"); }, "id: missing"},
        Broken{"OtherBlocks", SetTop("block_size", 16), "block_size: 16; only 64 is known"},
        Broken{"OtherForm", SetTop("hash_id_scope", "global"), "hash_id_scope: \"global\"; the v8"},
        Broken{"NoTools", SetTop("tool_tokens", -3), "tool_tokens: -3 is negative"},
        Broken{"RequestsMissing", [](Json* trace) { trace->erase("requests"); },
               "requests: missing"},
        Broken{"RequestsNoList", SetTop("requests", "x"),
               "requests: expected a list, got a string"},
        Broken{"NoCalls", SetTop("requests", Json::array()), "requests: no call"},
        Broken{"RequestNoObject", [](Json* trace) { (*trace)["requests"][3] = 7; },
               "requests[3]: expected an object, got a whole number"},
        Broken{"TypeUnknown", Set(3, "type", "?"), "requests[3].type: unknown type \"?\""},
        Broken{"NestedTypeUnknown", SetNested(1, 1, "type", "subagent"),
               "requests[1].requests[1].type: unknown type"},
        Broken{"InIsText", Set(3, "in", "330"),
               "requests[3].in: expected a whole number, got a string"},
        Broken{"InIsNegative", Set(3, "in", -330), "requests[3].in: -330 is negative"},
        Broken{"InIsZero", Set(3, "in", 0), "requests[3].in: an empty prompt"},
        Broken{"InIsAbsurd", Set(3, "in", 1ull << 40),
               "requests[3].in: 1099511627776 is more than"},
        Broken{"OutIsFraction", Set(3, "out", 1.5), "requests[3].out: expected a whole number"},
        Broken{"OutMissing", Erase(3, "out"), "requests[3].out: missing"},
        Broken{"ModelMissing", Erase(3, "model"), "requests[3].model: missing"},
        Broken{"ModelAbsurd", Set(3, "model", std::string(5000, 'm')),
               "requests[3].model: a string of"},
        Broken{"TimeNegative", Set(0, "t", -1.0), "requests[0].t: -1 is negative"},
        Broken{"TimeAbsurd", Set(5, "t", 1e12),
               "requests[5].t: 1000000000000 is more than 49 days"},
        Broken{"TimeBackward", Set(4, "t", 20.0),
               "requests[4].t: time runs backward: 10000 ms before the call in front of it"},
        Broken{"NestedTimeBackward", SetNested(1, 0, "t", 9.0),
               "requests[1].requests[1].t: time runs backward"},
        Broken{"SubagentBeforeParent", Set(1, "t", 10.0),
               "requests[1].t: time runs backward: the subagent starts before its parent call"},
        Broken{"DurationMissing", Set(1, "duration_ms", nullptr),
               "requests[1].duration_ms: expected a number, got null"},
        Broken{"StatusUnknown", Set(1, "status", "lost"),
               "requests[1].status: \"lost\" is neither"},
        Broken{"ServiceNegative", Set(3, "api_time", -2), "requests[3].api_time: -2 is negative"},
        Broken{"ServiceIsText", Set(3, "api_time", "2"), "requests[3].api_time: expected a number"},
        Broken{"InputTypes", Set(3, "input_types", {1}),
               "requests[3].input_types[0]: expected a string"},
        Broken{"IdsShort", Set(3, "hash_ids", {1, 2, 3, 4}),
               "requests[3].hash_ids: 4 ids for a prompt of 330 tokens; 5 blocks are full"},
        Broken{"IdNegative", Set(3, "hash_ids", {1, 2, 3, 4, -5}),
               "requests[3].hash_ids[4]: expected"},
        Broken{"IdHuge", Set(3, "hash_ids", {1, 2, 3, 4, 1ull << 33}), "requests[3].hash_ids[4]"},
        Broken{"ChainPosition", Set(3, "hash_ids", {1, 2, 4, 3, 5}),
               "requests[3].hash_ids[3]: broken chain: id 3 stood at position 2 before"},
        Broken{"ChainPredecessor", Set(3, "hash_ids", {1, 7, 3, 4, 5}),
               "requests[3].hash_ids[2]: broken chain: id 3 follows 7 here and followed 2 before"},
        Broken{"ChainRepeats", Set(0, "hash_ids", {1, 1, 2}),
               "requests[0].hash_ids[1]: broken chain"},
        Broken{"TotalsMissing", [](Json* trace) { trace->erase("totals"); }, "totals: missing"},
        Broken{"TotalsWrong",
               [](Json* trace) { (*trace)["totals"]["subagent_tokens"]["output"] = 31; },
               "totals.subagent_tokens.output: says 31, the requests add up to 30"},
        Broken{"CallMissing", [](Json* trace) { (*trace)["requests"].erase(5); },
               "totals.parent_tokens.input: says"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(TraceV8, EveryCutOfAFileIsRefused) {
  const std::string whole = MakeTrace().dump();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const StatusOr<ParsedTrace> parsed = ParseTraceV8(whole.substr(0, size));
    ASSERT_FALSE(parsed.ok()) << "cut to " << size << " bytes";
    ASSERT_THAT(std::string(MessageOf(parsed.status())), HasSubstr("not one whole JSON document"));
  }
}

}  // namespace
}  // namespace plimsoll
