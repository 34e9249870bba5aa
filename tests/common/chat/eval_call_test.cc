// Evals over HTTP, and the kinds of what is wrong with tool calls of the load.
#include "common/evals/eval_set.h"
#include "common/json/json.h"
#include "tests/common/chat/http_call_fixture.h"

namespace plimsoll {
namespace {

const std::string kSet =
    R"({"id":"sum","kind":"sum","prompt":"2 + 2?","max_tokens":50,"expect":{"number":4},"reference":"4"})"
    "\n"
    R"({"id":"tool","kind":"tool","prompt":"Weather in Lisbon?","tools":[{"type":"function","function":)"
    R"({"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},)"
    R"("required":["city"]}}}],"expect":{"calls":[{"name":"get_weather","arguments":{"city":"Lisbon"}}]},)"
    R"("reference":{"calls":[{"name":"get_weather","arguments":{"city":"Lisbon"}}]}})"
    "\n";

std::string CallDelta(const std::string& name, const std::string& arguments) {
  return Data(
      R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",)"
      R"("function":{"name":")" +
      name + R"(","arguments":")" + arguments + R"("}}]}}]})");
}
const std::string kEnd = Finish("tool_calls") + kUsage + kDone;

class EvalCallTest : public HttpCallTest {
 protected:
  EvalCallTest() {
    auto set = ReadEvalSet("test", kSet);
    EXPECT_TRUE(set.ok()) << set.status();
    if (set.ok()) set_ = *std::move(set);
  }
  EvalOutcome Judged(const CallResult& r, std::size_t index) {
    return Judge(set_.cases.at(index),
                 {.content = r.content, .content_too_long = r.content_too_long, .tools = r.tools})
        .outcome;
  }
  void AskFor(std::size_t index) {
    request_.prompt = nullptr;
    request_.eval = &set_.cases.at(index);
  }
  EvalSet set_;
};

TEST_F(EvalCallTest, SendsTheCaseAndBringsTheWholeAnswerBack) {
  target_.extra_body = R"("top_k":1)";
  target_.tools = true;  // Of the load's calls: no business of an eval.
  AskFor(0);
  const CallResult& r = Stream(kRole + Token("So: ") + Token("4") + Finish("stop") + kDone);
  EXPECT_EQ(r.outcome, Outcome::kOk);
  EXPECT_EQ(r.content, "So: 4");
  EXPECT_EQ(Judged(r, 0), EvalOutcome::kPass);
  const auto body = nlohmann::json::parse(http_.seen().at(0).body);
  EXPECT_EQ(body["model"], "glm");
  EXPECT_EQ(body["messages"][0]["content"], "2 + 2?");
  EXPECT_EQ(body["temperature"], 0);
  EXPECT_EQ(body["max_tokens"], 50);
  EXPECT_EQ(body["top_k"], 1);
  EXPECT_EQ(body["stream"], true);
  EXPECT_FALSE(body.contains("tools"));
}

TEST_F(EvalCallTest, ToolCallsComeBackAsTheyCameAndAreJudgedByTheCase) {
  AskFor(1);
  const CallResult right =
      Stream(kRole + CallDelta("get_weather", R"({\"city\":\"Lis)") +
             Data(R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,)"
                  R"("function":{"arguments":"bon\"}"}}]}}]})") +
             kEnd);
  ASSERT_EQ(right.tools.calls.size(), 1u);
  EXPECT_EQ(right.tools.calls[0].arguments, R"({"city":"Lisbon"})");
  EXPECT_EQ(Judged(right, 1), EvalOutcome::kPass);
  EXPECT_EQ(right.answer & (kToolCallsValid | kToolCallsInvalid), 0) << "whoever asked judges it";
  const CallResult blank = Stream(kRole + CallDelta("get_weather", R"({\"city\":\" \"})") + kEnd);
  EXPECT_EQ(Judged(blank, 1), EvalOutcome::kToolFault);
  const CallResult none = Stream(kRole + Token("It is warm.") + Finish("stop") + kDone);
  EXPECT_EQ(Judged(none, 1), EvalOutcome::kNoCall);
  const CallResult cut =
      Stream(kRole + CallDelta("get_weather", R"({\"ci)") + Finish("length") + kDone);
  EXPECT_TRUE(cut.tools.cut);
  EXPECT_EQ(Judged(cut, 1), EvalOutcome::kCut);
}

TEST_F(EvalCallTest, ItsOwnDeadlineCountsInPlaceOfTheTargets) {
  target_.call_deadline = 600s;
  target_.idle_timeout = 600s;
  AskFor(0);
  request_.deadline = 20s;
  http_.Add(ScriptedAnswer().Sent(1ms).Headers(5ms, 200, kSse).Body(6ms, kRole));
  const CallResult& r = Run();
  EXPECT_EQ(r.outcome, Outcome::kDeadline);
  EXPECT_EQ(Since(r.end), Duration(20s));
}

// Of the load's calls: read_file(path, line) is offered.
TEST_F(EvalCallTest, OfferedToolsDecideWhatIsMalformedAndHow) {
  target_.tools = true;
  const struct {
    std::string body;
    std::uint16_t faults;
  } cases[] = {
      {CallDelta("read_file", R"({\"path\":\"a.cc\",\"line\":3})"), 0},
      {CallDelta("write_file", R"({\"path\":\"a.cc\"})"),
       1u << static_cast<unsigned>(ToolFault::kUnknownTool)},
      {CallDelta("read_file", "{oops"), 1u << static_cast<unsigned>(ToolFault::kMalformedJson)},
      {CallDelta("read_file", "{}"), 1u << static_cast<unsigned>(ToolFault::kBlankRequired)},
      {CallDelta("read_file", R"({\"path\":\"\"})"),
       1u << static_cast<unsigned>(ToolFault::kBlankRequired)},
      {CallDelta("read_file", R"({\"path\":\"a.cc\",\"line\":\"three\"})"),
       1u << static_cast<unsigned>(ToolFault::kSchemaMismatch)},
      {Data(R"({"choices":[{"index":0,"delta":{"tool_calls":[]}}]})"),
       1u << static_cast<unsigned>(ToolFault::kFinishWithoutCall)},
      {Token("no call at all"), 1u << static_cast<unsigned>(ToolFault::kFinishWithoutCall)}};
  for (const auto& c : cases) {
    const CallResult r = Stream(kRole + c.body + kEnd);
    EXPECT_EQ(r.tool_faults, c.faults) << c.body;
    EXPECT_EQ(r.answer & (kToolCallsValid | kToolCallsInvalid),
              c.faults == 0 ? kToolCallsValid : kToolCallsInvalid)
        << c.body;
  }
}

TEST_F(EvalCallTest, WithoutOfferedToolsAnyNameIsFineAndEmptyListsAnnounceNothing) {
  const CallResult other = Stream(kRole + CallDelta("write_file", R"({\"x\":1})") + kEnd);
  EXPECT_EQ(other.answer & (kToolCallsValid | kToolCallsInvalid), kToolCallsValid);
  const std::string lists = Data(R"({"choices":[{"index":0,"delta":{"tool_calls":[]}}]})");
  const CallResult silent = Stream(kRole + lists + lists + Finish("stop") + kDone);
  EXPECT_EQ(silent.answer & kToolCallsInvalid, 0);
  transport_.reset();
  target_.tools = true;
  const CallResult announced = Stream(kRole + lists + lists + Finish("stop") + kDone);
  EXPECT_EQ(announced.answer & kToolCallsInvalid, kToolCallsInvalid);
  EXPECT_EQ(announced.tool_faults, 1u << static_cast<unsigned>(ToolFault::kEmptyDelta));
}

}  // namespace
}  // namespace plimsoll
