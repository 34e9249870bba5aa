// Faults of tool calls by kind, from pieces as they stream in, and with the tools that were
// offered.
#include "common/evals/tool_faults.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace plimsoll {
namespace {

const ToolSet& Offered() {
  static const StatusOr<ToolSet> tools = ToolSet::Read(R"([
    {"type":"function","function":{"name":"read","parameters":{"type":"object",
     "properties":{"path":{"type":"string"},"line":{"type":"integer","minimum":1},
                   "range":{"type":"object","required":["from"],
                            "properties":{"from":{"type":"string"}}}},
     "required":["path"],"additionalProperties":false}}},
    {"type":"function","function":{"name":"now"}}])");
  EXPECT_TRUE(tools.ok()) << tools.status();
  return *tools;
}

ToolCall Call(const std::string& name, const std::string& arguments) {
  return {.name = name, .arguments = arguments, .has_id = true};
}

TEST(ToolFaults, EachKindOfACall) {
  const struct {
    ToolCall call;
    std::optional<ToolFault> with_tools;
    std::optional<ToolFault> without;
  } cases[] = {
      {Call("read", R"({"path":"a"})"), {}, {}},
      {Call("now", "{}"), {}, {}},
      {Call("now", R"({"x":1})"), ToolFault::kSchemaMismatch, {}},
      {Call("now", ""), ToolFault::kMalformedJson, ToolFault::kMalformedJson},
      {{}, ToolFault::kEmptyDelta, ToolFault::kEmptyDelta},
      {Call("", ""), ToolFault::kMissingName, ToolFault::kMissingName},
      {Call("", R"({"path":"a"})"), ToolFault::kMissingName, ToolFault::kMissingName},
      {Call("raed", R"({"path":"a"})"), ToolFault::kUnknownTool, {}},
      {Call("Read", R"({"path":"a"})"), ToolFault::kUnknownTool, {}},
      {Call("read", R"({"path":"a")"), ToolFault::kMalformedJson, ToolFault::kMalformedJson},
      {Call("read", R"(["a"])"), ToolFault::kMalformedJson, ToolFault::kMalformedJson},
      {Call("read", "{}{}"), ToolFault::kMalformedJson, ToolFault::kMalformedJson},
      {Call("read", "{\"path\":\"\xFF\"}"), ToolFault::kMalformedJson, {}},
      {Call("read", "{}"), ToolFault::kBlankRequired, {}},
      {Call("read", R"({"path":""})"), ToolFault::kBlankRequired, {}},
      {Call("read", R"({"path":"  "})"), ToolFault::kBlankRequired, {}},
      {Call("read", R"({"path":null})"), ToolFault::kBlankRequired, {}},
      {Call("read", R"({"path":"a","range":{"from":""}})"), ToolFault::kBlankRequired, {}},
      {Call("read", R"({"path":7})"), ToolFault::kSchemaMismatch, {}},
      {Call("read", R"({"path":"a","line":"3"})"), ToolFault::kSchemaMismatch, {}},
      {Call("read", R"({"path":"a","lines":3})"), ToolFault::kSchemaMismatch, {}},
      {{.name = "read", .free_text = true}, ToolFault::kMalformedJson, {}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(FaultOf(c.call, &Offered()), c.with_tools) << c.call.name << c.call.arguments;
    EXPECT_EQ(FaultOf(c.call, nullptr), c.without) << c.call.name << c.call.arguments;
  }
}

TEST(ToolFaults, CountsCallsAnswersAndKinds) {
  ToolAnswer answer{.calls = {Call("read", R"({"path":"a"})"), Call("read", "{}"),
                              Call("raed", "{}"), Call("read", R"({"path":""})")}};
  ToolFaultCounts sum = JudgeToolCalls(answer, &Offered());
  EXPECT_EQ(sum.calls, 4u);
  EXPECT_EQ(sum.answers, 1u);
  EXPECT_EQ(sum.faulty, 1u);
  EXPECT_EQ(sum.of(ToolFault::kBlankRequired), 2u);
  EXPECT_EQ(sum.of(ToolFault::kUnknownTool), 1u);
  EXPECT_EQ(sum.total(), 3u);
  sum.Add(JudgeToolCalls({.calls = {Call("now", "{}")}}, &Offered()));
  EXPECT_EQ(sum.calls, 5u);
  EXPECT_EQ(sum.answers, 2u);
  EXPECT_EQ(sum.faulty, 1u);
  EXPECT_EQ(JudgeToolCalls({}, &Offered()), ToolFaultCounts{}) << "no tool call at all";
}

TEST(ToolFaults, OfTheAnswerItself) {
  const auto announced = JudgeToolCalls({.finished_for_calls = true}, nullptr);
  EXPECT_EQ(announced.of(ToolFault::kFinishWithoutCall), 1u);
  EXPECT_EQ(announced.answers, 1u);
  EXPECT_EQ(announced.calls, 0u);
  EXPECT_EQ(JudgeToolCalls({.only_empty_lists = true}, nullptr).of(ToolFault::kEmptyDelta), 1u);
  const auto both = JudgeToolCalls({.finished_for_calls = true, .only_empty_lists = true}, nullptr);
  EXPECT_EQ(both.total(), 1u) << "one answer, one fault";
  EXPECT_EQ(JudgeToolCalls({.only_empty_lists = true, .cut = true}, nullptr), ToolFaultCounts{});
  const auto large = JudgeToolCalls({.too_large = true, .finished_for_calls = true}, nullptr);
  EXPECT_EQ(large.of(ToolFault::kTooLarge), 1u);
  EXPECT_EQ(large.total(), 1u);
}

TEST(ToolFaults, WhatTheCapCutIsNotJudged) {
  const ToolAnswer cut{.calls = {Call("read", R"({"path":"a"})"), Call("read", R"({"pa)")},
                       .cut = true};
  const ToolFaultCounts counts = JudgeToolCalls(cut, &Offered());
  EXPECT_EQ(counts.calls, 1u);
  EXPECT_EQ(counts.faulty, 0u);
  const ToolAnswer broken{.calls = {Call("read", "{a")}, .cut = true};
  EXPECT_EQ(JudgeToolCalls(broken, &Offered()).of(ToolFault::kMalformedJson), 1u);
  const ToolAnswer whole{.calls = {Call("read", "{}")}, .cut = true};
  EXPECT_EQ(JudgeToolCalls(whole, &Offered()).of(ToolFault::kBlankRequired), 1u);
}

TEST(ToolCallCollector, PutsPiecesTogether) {
  ToolCallCollector collector;
  const auto add = [&](std::uint32_t index, bool id, std::string_view name,
                       std::string_view arguments, std::uint32_t choice = 0) {
    collector.Add(
        {.choice = choice, .index = index, .has_id = id, .name = name, .arguments = arguments});
  };
  add(0, true, "f", "");
  add(1, true, "g", "{");
  add(0, false, "", R"({"a":)");
  add(1, false, "", "}");
  add(0, false, "f", "1}");
  add(0, true, "h", "{}", 1);
  add(ToolCallPiece::kNoIndex, true, "", "{");
  add(ToolCallPiece::kNoIndex, false, "", "}");
  const std::vector<ToolCall> calls = collector.Take();
  ASSERT_EQ(calls.size(), 4u);
  EXPECT_EQ(calls[0].name + calls[0].arguments, R"(f{"a":1})");
  EXPECT_EQ(calls[1].name + calls[1].arguments, "g{}");
  EXPECT_EQ(calls[2].name + calls[2].arguments, "h{}");
  EXPECT_EQ(calls[3].name + calls[3].arguments, "{}");
  EXPECT_FALSE(collector.any());
}

TEST(ToolCallCollector, IsBounded) {
  ToolCallCollector collector;
  for (std::uint32_t i = 0; i < ToolCallCollector::kCallsMax; ++i) {
    collector.Add({.index = i, .name = "f"});
  }
  EXPECT_FALSE(collector.too_large());
  collector.Add({.index = 64, .name = "f"});
  EXPECT_TRUE(collector.too_large());
  EXPECT_EQ(collector.Take().size(), 64u);
  EXPECT_FALSE(collector.too_large());
  const std::string piece(100'000, 'x');
  for (int i = 0; i < 3; ++i) collector.Add({.index = 0, .arguments = piece});
  EXPECT_TRUE(collector.too_large());
  EXPECT_LE(collector.Take().front().arguments.size(), ToolCallCollector::kBytesMax);
}

TEST(ToolSet, RefusesWhatItDoesNotKnow) {
  const auto refusal = [](const std::string& tools) {
    const auto read = ToolSet::Read(tools);
    EXPECT_FALSE(read.ok()) << tools;
    return read.ok() ? "" : std::string(MessageOf(read.status()));
  };
  const auto function = [](const std::string& inside) {
    return R"([{"type":"function","function":{)" + inside + "}}]";
  };
  EXPECT_THAT(refusal("[]"), testing::HasSubstr("a list of 1 to 64"));
  EXPECT_THAT(refusal("{}"), testing::HasSubstr("a list of 1 to 64"));
  EXPECT_THAT(refusal("[1]"), testing::HasSubstr("tool 1: not an object"));
  EXPECT_THAT(refusal(R"([{"type":"custom"}])"), testing::HasSubstr("not \"function\""));
  EXPECT_THAT(refusal(function("")), testing::HasSubstr("its name is not"));
  EXPECT_THAT(refusal(function(R"("name":"a b")")), testing::HasSubstr("its name is not"));
  EXPECT_THAT(refusal(function(R"("name":"f","params":{})")), testing::HasSubstr("\"params\""));
  EXPECT_THAT(refusal(function(R"("name":"f","parameters":{"type":"objekt"})")),
              testing::HasSubstr("parameters of the tool \"f\": at #/type"));
  EXPECT_THAT(refusal(R"([{"type":"function","function":{"name":"f"}},)"
                      R"({"type":"function","function":{"name":"f"}}])"),
              testing::HasSubstr("\"f\" stands twice"));
}

}  // namespace
}  // namespace plimsoll
