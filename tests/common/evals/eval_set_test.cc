// Sets of evals: strict reading with lines and words, bounds, and the body of the request.
#include "common/evals/eval_set.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json/json.h"

namespace plimsoll {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kTool =
    R"({"type":"function","function":{"name":"f","parameters":{"type":"object",)"
    R"("properties":{"x":{"type":"string"}},"required":["x"]}}})";

json Case(const std::string& id = "a") {
  return {{"id", id},
          {"kind", "k"},
          {"prompt", "Say yes."},
          {"expect", {{"exact", "yes"}}},
          {"reference", "yes"}};
}
json CallCase() {
  json c = Case();
  c["tools"] = json::array({json::parse(kTool)});
  c["expect"] = {{"calls", {{{"name", "f"}, {"arguments", {{"x", "1"}}}}}}};
  c["reference"] = {{"calls", {{{"name", "f"}, {"arguments", {{"x", "1"}}}}}}};
  return c;
}
std::string Refusal(const std::string& text) {
  const auto set = ReadEvalSet("set.jsonl", text);
  EXPECT_FALSE(set.ok()) << text;
  return set.ok() ? "" : std::string(MessageOf(set.status()));
}
std::string CaseRefusal(const json& line) {
  return Refusal(line.dump());
}

TEST(EvalSet, ReadsCasesInOrder) {
  json second = Case("b");
  second["kind"] = "other";
  second["max_tokens"] = 7;
  second["wrong"] = {"no", {{"content", "maybe"}}};
  const auto set =
      ReadEvalSet("s", Case().dump() + "\r\n\n" + second.dump() + "\n" + Case("c").dump());
  ASSERT_TRUE(set.ok()) << set.status();
  ASSERT_EQ(set->cases.size(), 3u);
  EXPECT_EQ(set->cases[1].id, "b");
  EXPECT_EQ(set->cases[1].max_tokens, 7u);
  EXPECT_EQ(set->cases[1].wrong.size(), 2u);
  EXPECT_EQ(set->cases[0].max_tokens, kEvalMaxTokensDefault);
  EXPECT_THAT(set->kinds, testing::ElementsAre("k", "other"));
}

TEST(EvalSet, SaysWhereAndWhatToDo) {
  EXPECT_EQ(Refusal(Case().dump() + "\n\n" + Case().dump()),
            "set.jsonl:3: the id \"a\" is taken by a line before: each case has its own");
  EXPECT_EQ(Refusal(""), "set.jsonl:1: no cases: write one a line");
  EXPECT_THAT(Refusal("{\"id\":"), HasSubstr("set.jsonl:1: not JSON at byte"));
  EXPECT_THAT(Refusal("[1]"), HasSubstr("a line is one JSON object"));
  EXPECT_THAT(Refusal(R"({"id":"a","id":"b"})"), HasSubstr("\"id\" stands in an object twice"));
  const auto with = [](const char* field, const json& value) {
    json c = Case();
    c[field] = value;
    return CaseRefusal(c);
  };
  EXPECT_THAT(with("promt", "x"), HasSubstr("unknown field \"promt\"; known are id, kind"));
  EXPECT_THAT(with("id", "A b"), HasSubstr("id is 1 to 64 of a-z"));
  EXPECT_THAT(with("kind", 3), HasSubstr("kind is 1 to 64 of a-z"));
  EXPECT_THAT(with("messages", json::array()), HasSubstr("either prompt"));
  EXPECT_THAT(with("prompt", 1), HasSubstr("prompt is a string"));
  EXPECT_THAT(with("max_tokens", 0), HasSubstr("from 1 to 32768"));
  EXPECT_THAT(with("tool_choice", "auto"), HasSubstr("beside tools"));
  EXPECT_THAT(with("tools", json::array()), HasSubstr("tools: tools are a list"));
  EXPECT_THAT(with("expect", {{"exakt", 1}}), HasSubstr("expect: \"exakt\" is no check"));
  EXPECT_THAT(with("reference", 1), HasSubstr("an answer is a string"));
  EXPECT_THAT(with("reference", json::object()), HasSubstr("an answer is a string"));
  EXPECT_THAT(with("wrong", "no"), HasSubstr("a list of at most 8"));
  json c = Case();
  c.erase("reference");
  EXPECT_THAT(CaseRefusal(c), HasSubstr("reference is missing"));
  c = Case();
  c.erase("expect");
  EXPECT_THAT(CaseRefusal(c), HasSubstr("expect is missing"));
  c = Case();
  c.erase("prompt");
  c["messages"] = {{{"role", "user"}, {"content", "a"}}, {{"role", "assistant"}, {"content", "b"}}};
  EXPECT_THAT(CaseRefusal(c), HasSubstr("the last message is not the user's"));
  c["messages"] = {{{"role", "tool"}, {"content", "a"}}};
  EXPECT_THAT(CaseRefusal(c), HasSubstr("ROLE being system, user or assistant"));
}

TEST(EvalSet, EachCaseProvesItself) {
  json c = Case();
  c["reference"] = "no";
  EXPECT_THAT(CaseRefusal(c), HasSubstr("does not pass its own check (wrong)"));
  c = Case();
  c["wrong"] = {"no", " yes "};
  EXPECT_THAT(CaseRefusal(c), HasSubstr("its wrong answer 2 passes its check"));
  c = CallCase();
  c["reference"]["calls"][0]["arguments"]["x"] = "";
  EXPECT_THAT(CaseRefusal(c),
              HasSubstr("a required argument is missing or blank, x: missing or blank"));
  c = CallCase();
  c.erase("tools");
  EXPECT_THAT(CaseRefusal(c), HasSubstr("expects calls and offers no tools"));
}

TEST(EvalSet, IsBounded) {
  EXPECT_THAT(Refusal(std::string(kEvalSetBytesMax + 1, ' ')), HasSubstr("split it"));
  json c = Case();
  c["prompt"] = std::string(kEvalLineBytesMax, 'x');
  EXPECT_THAT(CaseRefusal(c), HasSubstr("shorten it"));
  std::string kinds;
  std::string cases;
  for (std::size_t i = 0; i <= kEvalCasesMax; ++i) {
    c = Case("c" + std::to_string(i));
    cases += c.dump() + "\n";
    c["kind"] = "k" + std::to_string(i);
    if (i <= kEvalKindsMax) kinds += c.dump() + "\n";
  }
  EXPECT_THAT(Refusal(cases), HasSubstr(":1001: more than 1000 cases"));
  EXPECT_THAT(Refusal(kinds), HasSubstr(":17: more than 16 kinds"));
  std::string broken;
  for (int i = 0; i < 15; ++i) broken += "x\n";
  const std::string all = Refusal(broken);
  EXPECT_THAT(all, HasSubstr("set.jsonl:10: "));
  EXPECT_THAT(all, testing::EndsWith("set.jsonl: 5 more problems"));
}

TEST(EvalBody, IsTheRequest) {
  json c = CallCase();
  c["tool_choice"] = "required";
  c["prompt"] = "Say \"é\"\n";
  const auto set = ReadEvalSet("s", c.dump());
  ASSERT_TRUE(set.ok()) << set.status();
  const json body =
      json::parse(EvalBody(set->cases[0], {.model = "a\"b", .extra_fields = R"("top_k":1)"}));
  EXPECT_EQ(body, json({{"model", "a\"b"},
                        {"messages", {{{"role", "user"}, {"content", "Say \"é\"\n"}}}},
                        {"max_tokens", 1024},
                        {"temperature", 0},
                        {"tools", json::array({json::parse(kTool)})},
                        {"tool_choice", "required"},
                        {"stream", true},
                        {"stream_options", {{"include_usage", true}}},
                        {"top_k", 1}}));
  const auto plain = ReadEvalSet("s", Case().dump());
  ASSERT_TRUE(plain.ok());
  const json whole = json::parse(EvalBody(plain->cases[0], {.model = "m", .stream = false}));
  EXPECT_EQ(whole.at("stream"), false);
  EXPECT_FALSE(whole.contains("tools"));
}

}  // namespace
}  // namespace plimsoll
