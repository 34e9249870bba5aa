// Checkers: what each calls right and wrong, and which checks are refused.
#include "common/evals/answer_check.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/evals/json_match.h"
#include "common/evals/last_number.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

AnswerCheck Read(const std::string& expect) {
  auto check = AnswerCheck::Read(expect);
  EXPECT_TRUE(check.ok()) << expect << "\n" << check.status();
  return check.ok() ? *check : *AnswerCheck::Read(R"({"exact":"unread"})");
}
bool Holds(const std::string& expect, const std::string& content) {
  return Read(expect).Holds({.content = content});
}

TEST(LastNumber, IsTheOneThatATextEndsOn) {
  const struct {
    const char* text;
    std::optional<double> number;
  } cases[] = {
      {"", {}},
      {"none", {}},
      {"42", 42},
      {"So 6 times 7 is **42**.", 42},
      {"It is 1,234.50 euros", 1234.5},
      {"1,234,567", 1234567},
      {"the list 1,2", 2},
      {"12,34", 34},
      {"-8", -8},
      {"falls to \xE2\x88\x92"
       "8 degrees",
       -8},
      {"5-3", 3},
      {"between 5 - 3", 3},
      {"2026-11-30", 30},
      {"a field of 42km", 42},
      {"5km2", 5},
      {"as x2 or v1.2 say", {}},
      {"$0.875", 0.875},
      {"7.", 7},
      {"100%", 100},
  };
  for (const auto& c : cases) EXPECT_EQ(LastNumber(c.text), c.number) << c.text;
  EXPECT_EQ(LastNumber(std::string(400, '9')), std::nullopt) << "beyond any double";
}

TEST(AnswerCheck, Exact) {
  EXPECT_TRUE(Holds(R"({"exact":"Paris"})", " Paris\n"));
  EXPECT_FALSE(Holds(R"({"exact":"Paris"})", "paris"));
  EXPECT_FALSE(Holds(R"({"exact":"Paris"})", "Paris."));
  EXPECT_TRUE(Holds(R"({"exact":["a","b"],"ignore_case":true})", "B"));
  EXPECT_FALSE(Holds(R"({"exact":["a","b"]})", ""));
}

TEST(AnswerCheck, RegexAndNumber) {
  EXPECT_TRUE(Holds(R"({"regex":"^[ab]{2}$"})", "ab"));
  EXPECT_FALSE(Holds(R"({"regex":"^[ab]{2}$"})", "abc"));
  EXPECT_TRUE(Holds(R"({"number":3.14,"tolerance":0.01})", "about 3.149"));
  EXPECT_FALSE(Holds(R"({"number":3.14,"tolerance":0.01})", "about 3.16"));
  EXPECT_FALSE(Holds(R"({"number":0})", "no number"));
  EXPECT_TRUE(Holds(R"({"regex":"euro","number":5})", "5 euros"));
  EXPECT_FALSE(Holds(R"({"regex":"euro","number":5})", "5 dollars")) << "all must hold";
}

TEST(AnswerCheck, JsonAndSchema) {
  const std::string expect = R"({"json":{"a":[1,"x"]}})";
  EXPECT_TRUE(Holds(expect, R"( {"a": [1.0, "x"]} )"));
  EXPECT_FALSE(Holds(expect, R"({"a":[1,"x"],"b":2})"));
  EXPECT_FALSE(Holds(expect, R"({"a":["x",1]})"));
  EXPECT_FALSE(Holds(expect, "```json\n{\"a\":[1,\"x\"]}\n```"));
  EXPECT_FALSE(Holds(expect, "{"));
  const std::string fenced = R"({"json":{"a":1},"allow_fence":true})";
  EXPECT_TRUE(Holds(fenced, "```json\n{\"a\":1}\n```"));
  EXPECT_TRUE(Holds(fenced, R"({"a":1})"));
  EXPECT_FALSE(Holds(fenced, "```json\n"));
  EXPECT_FALSE(Holds(fenced, "```\n```"));
  EXPECT_TRUE(Holds(R"({"json_schema":{"type":"integer"}})", "3"));
  EXPECT_FALSE(Holds(R"({"json_schema":{"type":"integer"}})", "three"));
}

TEST(JsonMatch, Choices) {
  const auto matches = [](const std::string& expected, const std::string& value) {
    const auto match = JsonMatch::Read(expected);
    EXPECT_TRUE(match.ok()) << match.status();
    return match.ok() && match->Matches(value);
  };
  EXPECT_TRUE(matches(R"({"a":{"$any":[1,"x"]}})", R"({"a":"x"})"));
  EXPECT_FALSE(matches(R"({"a":{"$any":[1,"x"]}})", R"({"a":2})"));
  EXPECT_TRUE(matches(R"([{"$regex":"(?i)^paris"}])", R"(["PARIS, France"])"));
  EXPECT_FALSE(matches(R"([{"$regex":"^paris"}])", "[1]"));
  EXPECT_TRUE(matches(R"({"$number":1,"tolerance":0.5})", "1.5"));
  EXPECT_FALSE(matches(R"({"$number":1})", "1.5"));
  EXPECT_TRUE(matches(R"({"a":1,"b":{"$optional":2}})", R"({"a":1})"));
  EXPECT_TRUE(matches(R"({"a":1,"b":{"$optional":2}})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(matches(R"({"a":1,"b":{"$optional":2}})", R"({"a":1,"b":3})"));
  EXPECT_FALSE(matches(R"({"a":1,"b":{"$optional":2}})", R"({"a":1,"c":2})"));
  for (const char* bad :
       {R"({"$any":[]})", R"({"$any":[1],"x":1})", R"({"$regex":"("})", R"({"$regex":1})",
        R"({"$number":"1"})", R"({"$nubmer":1})", R"({"$number":1,"tolerance":-1})",
        R"([{"$optional":1}])", R"({"$optional":1})", "{"}) {
    EXPECT_FALSE(JsonMatch::Read(bad).ok()) << bad;
  }
}

EvalAnswer CallsOf(const std::vector<std::pair<std::string, std::string>>& calls) {
  EvalAnswer answer;
  for (const auto& [name, arguments] : calls) {
    answer.tools.calls.push_back({.name = name, .arguments = arguments, .has_id = true});
  }
  return answer;
}

TEST(AnswerCheck, CallsInAnyOrder) {
  const AnswerCheck check = Read(
      R"({"calls":[{"name":"f","arguments":{"x":{"$any":[1,2]}}},{"name":"f","arguments":{"x":1}}]})");
  EXPECT_TRUE(check.wants_calls());
  // The first expected call must give x = 1 up to the second.
  EXPECT_TRUE(check.Holds(CallsOf({{"f", R"({"x":1})"}, {"f", R"({"x":2})"}})));
  EXPECT_TRUE(check.Holds(CallsOf({{"f", R"({"x":2})"}, {"f", R"({"x":1})"}})));
  EXPECT_TRUE(check.Holds(CallsOf({{"f", R"({"x":1})"}, {"f", R"({"x":1})"}})));
  EXPECT_FALSE(check.Holds(CallsOf({{"f", R"({"x":2})"}, {"f", R"({"x":2})"}})));
  EXPECT_FALSE(check.Holds(CallsOf({{"f", R"({"x":1})"}})));
  EXPECT_FALSE(
      check.Holds(CallsOf({{"f", R"({"x":1})"}, {"f", R"({"x":1})"}, {"f", R"({"x":1})"}})));
  EXPECT_FALSE(check.Holds(CallsOf({{"f", R"({"x":1})"}, {"g", R"({"x":1})"}})));
  EXPECT_FALSE(check.Holds({.content = "f"}));
}

TEST(AnswerCheck, CallsInOrderAndMoreArguments) {
  const AnswerCheck check =
      Read(R"({"calls":[{"name":"f","arguments":{"x":1},"more_arguments":true},)"
           R"({"name":"g","arguments":{}}],"order":"given"})");
  EXPECT_TRUE(check.Holds(CallsOf({{"f", R"({"x":1,"y":2})"}, {"g", "{}"}})));
  EXPECT_FALSE(check.Holds(CallsOf({{"g", "{}"}, {"f", R"({"x":1})"}})));
  EXPECT_FALSE(check.Holds(CallsOf({{"f", R"({"x":1})"}, {"g", R"({"y":1})"}})));
}

TEST(AnswerCheck, ManyParallelCallsAreMatched) {
  std::string expect;
  std::vector<std::pair<std::string, std::string>> calls;
  for (int i = 0; i < 64; ++i) {
    // Each fits two; only one assignment fits all.
    expect += R"({"name":"f","arguments":{"x":{"$any":[)" + std::to_string(i) + "," +
              std::to_string(i + 1) + "]}}}" + (i < 63 ? "," : "");
    calls.emplace_back("f", R"({"x":)" + std::to_string(i + 1) + "}");
  }
  const AnswerCheck check = Read("{\"calls\":[" + expect + "]}");
  EXPECT_TRUE(check.Holds(CallsOf(calls)));
  calls[10].second = calls[11].second;
  EXPECT_FALSE(check.Holds(CallsOf(calls)));
}

TEST(AnswerCheck, RefusesInWords) {
  const auto refusal = [](const std::string& expect) {
    const auto check = AnswerCheck::Read(expect);
    EXPECT_FALSE(check.ok()) << expect;
    return check.ok() ? "" : std::string(MessageOf(check.status()));
  };
  EXPECT_THAT(refusal("[]"), HasSubstr("an object of checks"));
  EXPECT_THAT(refusal("{}"), HasSubstr("checks nothing"));
  EXPECT_THAT(refusal(R"({"exakt":"a"})"), HasSubstr("\"exakt\" is no check"));
  EXPECT_THAT(refusal(R"({"exact":1})"), HasSubstr("a string"));
  EXPECT_THAT(refusal(R"({"exact":[]})"), HasSubstr("1 to 64"));
  EXPECT_THAT(refusal(R"({"regex":"a","tolerance":1})"), HasSubstr("stands beside number"));
  EXPECT_THAT(refusal(R"({"number":1,"tolerance":-1})"), HasSubstr("at least 0"));
  EXPECT_THAT(refusal(R"({"exact":"a","allow_fence":true})"), HasSubstr("beside json"));
  EXPECT_THAT(refusal(R"({"regex":"a","ignore_case":true})"), HasSubstr("beside exact"));
  EXPECT_THAT(refusal(R"({"exact":"a","order":"any"})"), HasSubstr("beside calls"));
  EXPECT_THAT(refusal(R"({"calls":[]})"), HasSubstr("1 to 64"));
  EXPECT_THAT(refusal(R"({"calls":[{"name":"f"}]})"), HasSubstr("a call is"));
  EXPECT_THAT(refusal(R"({"calls":[{"name":"f","arguments":{},"x":1}]})"), HasSubstr("a call is"));
  EXPECT_THAT(refusal(R"({"calls":[{"name":"f","arguments":{}}],"no_calls":true})"),
              HasSubstr("exclude each other"));
  EXPECT_THAT(refusal(R"({"no_calls":false})"), HasSubstr("checks nothing"));
  EXPECT_THAT(refusal(R"({"json_schema":{"type":"x"}})"), HasSubstr("at #/type"));
}

TEST(JudgeAnswer, OutcomesInTheirOrder) {
  const auto tools = ToolSet::Read(
      R"([{"type":"function","function":{"name":"f","parameters":{"properties":{"x":{"type":"integer"}}}}}])");
  ASSERT_TRUE(tools.ok());
  const AnswerCheck call = Read(R"({"calls":[{"name":"f","arguments":{"x":1}}]})");
  const AnswerCheck text = Read(R"({"exact":"yes"})");
  const auto of = [&](const AnswerCheck& check, const EvalAnswer& answer) {
    return JudgeAnswer(check, *tools, answer).outcome;
  };
  EXPECT_EQ(of(call, CallsOf({{"f", R"({"x":1})"}})), EvalOutcome::kPass);
  EXPECT_EQ(of(call, CallsOf({{"f", R"({"x":2})"}})), EvalOutcome::kWrong);
  EXPECT_EQ(of(call, CallsOf({{"f", R"({"x":"1"})"}})), EvalOutcome::kToolFault);
  EXPECT_EQ(of(call, {.content = "f(1)"}), EvalOutcome::kNoCall);
  EXPECT_EQ(of(call, {}), EvalOutcome::kEmpty);
  EvalAnswer lost{.content = "yes"};
  lost.tools.finished_for_calls = true;
  EXPECT_EQ(of(text, lost), EvalOutcome::kToolFault);
  EvalAnswer cut{.content = "well, let me"};
  cut.tools.cut = true;
  EXPECT_EQ(of(text, cut), EvalOutcome::kCut);
  cut.content = "yes";
  EXPECT_EQ(of(text, cut), EvalOutcome::kPass);
  EXPECT_EQ(of(text, {.content = "yes", .content_too_long = true}), EvalOutcome::kWrong);
  const auto uncalled = JudgeAnswer(text, ToolSet::None(), CallsOf({{"f", "{}"}}));
  EXPECT_EQ(uncalled.outcome, EvalOutcome::kToolFault);
  EXPECT_EQ(uncalled.faults.of(ToolFault::kUnknownTool), 1u);
}

}  // namespace
}  // namespace plimsoll
