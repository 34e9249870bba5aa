// Tool calls of live answers: present, well formed, malformed, and what else an answer was.
#include <string>

#include "tests/common/chat/http_call_fixture.h"

namespace plimsoll {
namespace {

std::string Calls(const std::string& list) {
  return Data(R"({"choices":[{"index":0,"delta":{"tool_calls":[)" + list + "]}}]}");
}
std::string Begin(int index, const std::string& name, const std::string& arguments = "") {
  return R"({"index":)" + std::to_string(index) + R"(,"id":"c)" + std::to_string(index) +
         R"(","type":"function","function":{"name":")" + name + R"(","arguments":")" + arguments +
         R"("}})";
}
std::string More(int index, const std::string& arguments) {
  return R"({"index":)" + std::to_string(index) + R"(,"function":{"arguments":")" + arguments +
         R"("}})";
}
const std::string kEnd = Finish("tool_calls") + kUsage + kDone;

class ToolCallTest : public HttpCallTest {
 protected:
  std::uint8_t AnswerOf(const std::string& body) { return Stream(kRole + body).answer; }
};

TEST_F(ToolCallTest, StreamedInPiecesSeveralAtOnceIsValid) {
  const CallResult& r = Stream(kRole + Calls(Begin(0, "read")) + Calls(Begin(1, "write")) +
                               Calls(More(0, R"({\"path)") + "," + More(1, R"({\"a\":[1,)")) +
                               Calls(More(1, R"({}]})")) + Calls(More(0, R"(\":\"x\"})")) + kEnd);
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_NE(r.flags & kToolCallPresent, 0);
  EXPECT_EQ(r.answer, kToolCallsValid);
}

TEST_F(ToolCallTest, NamesAndArgumentsDecide) {
  const std::string good =
      Calls(Begin(0, "f")) + Calls(More(0, R"({\"a\")")) + Calls(More(0, R"(:1})"));
  EXPECT_EQ(AnswerOf(good + kEnd), kToolCallsValid);
  EXPECT_EQ(AnswerOf(Calls(Begin(0, "f", "{}")) + kEnd), kToolCallsValid);
  const struct {
    std::string body;
    const char* what;
  } bad[] = {
      {Calls(Begin(0, "", "{}")) + kEnd, "no name"},
      {Calls(Begin(0, "f")) + kEnd, "no arguments"},
      {Calls(Begin(0, "f", R"({\"a\":1)")) + kEnd, "arguments break off"},
      {Calls(Begin(0, "f", "[]")) + kEnd, "an array"},
      {Calls(Begin(0, "f", "{}{}")) + kEnd, "two objects"},
      {good + Calls(Begin(1, "g", "{oops")) + kEnd, "the second of two"},
      {Calls(R"({"index":0,"function":{}})") + kEnd, "an empty delta"},
      {Token("a") + kEnd, "announced by the finish reason alone"},
  };
  for (const auto& c : bad) EXPECT_EQ(AnswerOf(c.body), kToolCallsInvalid) << c.what;
}

TEST_F(ToolCallTest, ACustomToolsInputIsFreeText) {
  const std::string begin =
      R"({"index":0,"id":"c0","type":"custom","custom":{"name":"shell","input":"{oops"}})";
  const std::string more = R"({"index":0,"custom":{"input":" ls -l"}})";
  EXPECT_EQ(AnswerOf(Calls(begin) + Calls(more) + kEnd), kToolCallsValid);
  EXPECT_EQ(AnswerOf(Calls(more) + kEnd), kToolCallsInvalid) << "no name";
  EXPECT_EQ(AnswerOf(Calls(begin) + Calls(Begin(1, "g", "{oops")) + kEnd), kToolCallsInvalid)
      << "one of each";
}

TEST_F(ToolCallTest, WhatTheCapCutIsNotJudgedUnlessItWasBrokenBefore) {
  const std::string cut = Finish("length") + kUsage + kDone;
  EXPECT_EQ(AnswerOf(Calls(Begin(0, "f", R"({\"a\":\"lon)")) + cut), 0);
  EXPECT_EQ(AnswerOf(Calls(Begin(0, "f", "{a")) + cut), kToolCallsInvalid);
  EXPECT_EQ(AnswerOf(Calls(Begin(0, "f", "{}")) + cut), kToolCallsValid);
}

TEST_F(ToolCallTest, WithoutIndicesAnIdBeginsEachCall) {
  const std::string body = Calls(R"({"id":"a","function":{"name":"f","arguments":"{\"x\":"}})") +
                           Calls(R"({"function":{"arguments":"1}"}})") +
                           Calls(R"({"id":"b","function":{"name":"g","arguments":"{}"}})");
  EXPECT_EQ(AnswerOf(body + kEnd), kToolCallsValid);
}

TEST_F(ToolCallTest, ChoicesAndTheOldFormAreToldApart) {
  const std::string two =
      Data(R"({"choices":[{"index":1,"delta":{"tool_calls":[)" + Begin(0, "f", "{") +
           R"(]}},{"index":0,"delta":{"tool_calls":[)" + Begin(0, "g", "{}") + "]}}]}") +
      Data(R"({"choices":[{"index":1,"delta":{"tool_calls":[)" + More(0, "}") + "]}}]}");
  EXPECT_EQ(AnswerOf(two + kEnd), kToolCallsValid);
  const auto old = [](const std::string& function) {
    return Data(R"({"choices":[{"delta":{"function_call":)" + function + "}}]}");
  };
  EXPECT_EQ(AnswerOf(old(R"({"name":"f","arguments":""})") + old(R"({"arguments":"{}"})") +
                     Finish("function_call") + kDone),
            kToolCallsValid);
}

TEST_F(ToolCallTest, ChoicesAtOnceDoNotMixWhereTheIndexComesLast) {
  const auto choice = [](int index, const std::string& list, bool last) {
    const std::string delta = R"("delta":{"tool_calls":[)" + list + "]}";
    const std::string number = R"("index":)" + std::to_string(index);
    return "{" + (last ? delta + "," + number : number + "," + delta) + "}";
  };
  const auto answer = [&](bool last, const std::string& end) {
    const auto event = [](const std::string& choices) {
      return Data(R"({"choices":[)" + choices + "]}");
    };
    return AnswerOf(event(choice(1, Begin(0, "f") + "," + Begin(1, "g"), last)) +
                    event(choice(0, Begin(0, "h"), last)) +
                    event(choice(1, More(0, R"({\"a\":)") + "," + More(1, "{"), last) + "," +
                          choice(0, More(0, R"({\"b\":)"), last)) +
                    event(choice(0, More(0, "[]}"), last)) +
                    event(choice(1, More(0, "1}") + "," + More(1, end), last)) + kEnd);
  };
  for (const bool last : {false, true}) {
    EXPECT_EQ(answer(last, "}"), kToolCallsValid) << "index last: " << last;
    EXPECT_EQ(answer(last, "]"), kToolCallsInvalid) << "index last: " << last;
  }
}

TEST_F(ToolCallTest, AWholeAnswerMayGiveAnObjectOutright) {
  const auto whole = [&](const std::string& arguments) {
    return Status(200, R"({"choices":[{"index":0,"message":{"role":"assistant","content":null,)"
                       R"("tool_calls":[{"id":"a","function":{"name":"f","arguments":)" +
                           arguments + R"(}}]},"finish_reason":"tool_calls"}]})")
        .answer;
  };
  EXPECT_EQ(whole(R"({"a": [1, {"b": 2}]})"), kToolCallsValid);
  EXPECT_EQ(whole(R"("{\"a\":1}")"), kToolCallsValid);
  EXPECT_EQ(whole(R"("{\"a\":1")"), kToolCallsInvalid);
  EXPECT_EQ(whole("17"), kToolCallsInvalid);
}

TEST_F(ToolCallTest, MoreCallsThanAreToldApartAreMalformed) {
  std::string body;
  for (int i = 0; i < 64; ++i) body += Calls(Begin(i, "f", "{}"));
  EXPECT_EQ(AnswerOf(body + kEnd), kToolCallsValid);
  EXPECT_EQ(AnswerOf(body + Calls(Begin(64, "f", "{}")) + kEnd), kToolCallsInvalid);
}

TEST_F(ToolCallTest, ABrokenStreamIsNotJudged) {
  const CallResult& r = Stream(kRole + Calls(Begin(0, "f", R"({\"a)")), TransferResult::kBroken);
  EXPECT_EQ(r.outcome, Outcome::kTruncated);
  EXPECT_EQ(r.answer, 0);
}

TEST_F(ToolCallTest, ReasoningAloneAndHiddenReasoning) {
  const std::string thought = Data(R"({"choices":[{"delta":{"reasoning_content":"hm"}}]})");
  const auto usage = [](int reasoning) {
    return Data(R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":40,)"
                R"("completion_tokens_details":{"reasoning_tokens":)" +
                std::to_string(reasoning) + "}}}");
  };
  EXPECT_EQ(AnswerOf(thought + Finish("length") + kDone), kReasoningOnly);
  EXPECT_EQ(AnswerOf(thought + Token("so") + Finish("stop") + usage(39) + kDone), 0);
  EXPECT_EQ(AnswerOf(Token("so") + Finish("stop") + usage(39) + kDone), kHiddenReasoning);
  EXPECT_EQ(AnswerOf(Token("so") + Finish("stop") + usage(2) + kDone), 0) << "an empty thought";
  EXPECT_EQ(AnswerOf(Token("so") + Finish("stop") + kUsage + kDone), 0) << "not reported";
}

TEST_F(ToolCallTest, AServerThatQuotesTheTokenDoesNotGetItStored) {
  options_ = {"sk-very-secret"};
  const CallResult& r =
      Status(401, R"({"error":{"message":"bad key sk-very-secret, not sk-very-secret"}})");
  EXPECT_EQ(r.message, "status 401: bad key [token], not [token]");
}

}  // namespace
}  // namespace plimsoll
