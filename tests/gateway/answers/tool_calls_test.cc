// Calls that fit the tools that are offered, and each kind that does not: as common/evals judges
// them.
#include "gateway/answers/tool_calls.h"

#include <string>
#include <vector>

#include "common/evals/tool_faults.h"
#include "common/evals/tool_set.h"
#include "gtest/gtest.h"
#include "tests/gateway/answers/put_together.h"

namespace plimsoll {
namespace {

std::string Tool(const std::string& parameters) {
  return R"([{"type":"function","function":{"name":"f","parameters":)" + parameters + "}}]";
}

const std::vector<std::string> kSchemas = {
    R"({"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"}},"required":["path"]})",
    R"({"type":"object","properties":{"unit":{"enum":["c","f"]},"n":{"type":"integer","minimum":3},
        "m":{"type":"number","exclusiveMinimum":7},"low":{"type":"number","maximum":-2}},
        "required":["unit","n","m","low"]})",
    R"({"type":"object","properties":{"who":{"type":"object","properties":{"name":{"type":"string",
        "minLength":30}},"required":["name"]},"all":{"type":"array","items":{"type":"boolean"},
        "minItems":2},"or":{"anyOf":[{"type":"null"},{"type":"string"}]}},"required":["who","all"],
        "additionalProperties":false})",
    R"({"type":"object","definitions":{"id":{"type":"string","const":"x7"}},
        "properties":{"id":{"$ref":"#/definitions/id"}},"required":["id"]})"};

ToolFaultCounts Judged(const AnswerPlan& plan, const ToolSet& tools) {
  const AnswerScript script(plan, 1'000);
  return JudgeToolCalls(PutTogether(script, script.size()).tools, &tools);
}

TEST(ToolCalls, FitTheToolThatIsOffered) {
  for (const std::string& schema : kSchemas) {
    const auto tools = ToolSet::Read(Tool(schema));
    ASSERT_TRUE(tools.ok()) << MessageOf(tools.status());
    AnswerPlan plan{.calls = {SampleCall(Tool(schema))}, .says_calls = true};
    plan.calls[0].id = "c";
    EXPECT_EQ(plan.calls[0].name, "f");
    const ToolFaultCounts counts = Judged(plan, *tools);
    EXPECT_EQ(counts.total(), 0u) << *plan.calls[0].arguments;
    EXPECT_EQ(counts.calls, 1u);
  }
}

TEST(ToolCalls, AreOfReadFileWhereNothingIsKnown) {
  for (const char* tools :
       {"", "[]", "{}", R"([{"type":"function"}])", R"([{"function":{"name":1}}])", "[1, null]"}) {
    EXPECT_EQ(SampleCall(tools).name, "read_file") << tools;
  }
  EXPECT_EQ(SampleCall(R"([{"function":{"name":"g"}}])").arguments, "{}");
  EXPECT_EQ(SampleCall(Tool(R"({"$ref":"#"})")).arguments, "{}") << "endless";
  EXPECT_EQ(SampleCall(Tool("[1]")).arguments, "{}");
}

TEST(ToolCalls, AreMalformedInEachWay) {
  for (const std::string& schema : kSchemas) {
    const auto tools = ToolSet::Read(Tool(schema));
    ASSERT_TRUE(tools.ok());
    AnswerCall right = SampleCall(Tool(schema));
    right.id = "c";
    for (const ToolFault fault :
         {ToolFault::kEmptyDelta, ToolFault::kMissingName, ToolFault::kUnknownTool,
          ToolFault::kMalformedJson, ToolFault::kBlankRequired, ToolFault::kSchemaMismatch,
          ToolFault::kFinishWithoutCall}) {
      SCOPED_TRACE(Name(fault));
      const AnswerPlan plan = Malformed({.calls = {right}}, Tool(schema), fault);
      const ToolFaultCounts counts = Judged(plan, *tools);
      EXPECT_EQ(counts.of(fault), 1u) << plan.calls.size();
      EXPECT_EQ(counts.total(), 1u);
      EXPECT_EQ(counts.answers, 1u);
    }
  }
}

TEST(ToolCalls, ThatCannotBeWrongInAWayAreCut) {
  const std::string any = Tool(R"({"type":"object"})");
  const auto tools = ToolSet::Read(any);
  ASSERT_TRUE(tools.ok());
  for (const ToolFault fault : {ToolFault::kBlankRequired, ToolFault::kSchemaMismatch}) {
    AnswerCall right{.id = "c", .name = "f", .arguments = R"({"a":1})"};
    EXPECT_EQ(
        Judged(Malformed({.calls = {right}}, any, fault), *tools).of(ToolFault::kMalformedJson),
        1u);
  }
  // A right answer without calls gets one.
  EXPECT_EQ(Judged(Malformed({}, any, ToolFault::kUnknownTool), *tools).of(ToolFault::kUnknownTool),
            1u);
  EXPECT_EQ(
      Malformed({.calls = {{.name = "f", .arguments = "no"}}}, "no", ToolFault::kBlankRequired)
          .calls[0]
          .arguments,
      "n");
}

}  // namespace
}  // namespace plimsoll
