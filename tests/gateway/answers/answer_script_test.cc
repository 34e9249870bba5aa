// Answers in pieces: whatever their number, a client puts the same answer together.
#include "gateway/answers/answer_script.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/gateway/answers/put_together.h"

namespace plimsoll {
namespace {

const AnswerPlan kPlan = {
    .content = "Let me see:\n two calls é.",
    .calls = {{.id = "c0", .name = "find", .arguments = R"({"q":"Zürich \"é\""})"},
              {.id = "c1", .name = "list", .arguments = "{}"}},
    .says_calls = true};

TEST(AnswerScript, IsTheSameInAnyNumberOfPieces) {
  const std::size_t all = AnswerScript(kPlan, 1'000).size();
  EXPECT_GT(all, 12u);
  for (std::size_t most = 1; most <= all; ++most) {
    const AnswerScript script(kPlan, most);
    EXPECT_EQ(script.size(), most);
    const EvalAnswer answer = PutTogether(script, script.size());
    EXPECT_EQ(answer.content, kPlan.content);
    ASSERT_EQ(answer.tools.calls.size(), 2u);
    EXPECT_EQ(answer.tools.calls[0].name, "find");
    EXPECT_EQ(answer.tools.calls[0].arguments, *kPlan.calls[0].arguments);
    EXPECT_EQ(answer.tools.calls[1].name, "list");
    EXPECT_EQ(answer.tools.calls[1].arguments, "{}");
    EXPECT_TRUE(answer.tools.calls[1].has_id);
  }
}

TEST(AnswerScript, StreamsACallAsVllmDoes) {
  const AnswerScript script({.calls = {{.id = "c", .name = "f", .arguments = R"({"a":1})"}}}, 99);
  EXPECT_EQ(script.Delta(0), R"({"tool_calls":[{"index":0,"id":"c","type":"function",)"
                             R"("function":{"name":"f","arguments":""}}]})");
  EXPECT_EQ(script.Delta(1), R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]})");
  EXPECT_EQ(script.Delta(2), R"({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]})");
}

TEST(AnswerScript, MayEndInItsMiddle) {
  const AnswerScript script({.calls = {{.id = "c", .name = "f", .arguments = R"({"a":1})"}}}, 99);
  EXPECT_EQ(script.Message(2, "Words."),
            R"({"role":"assistant","content":"Words.","tool_calls":[{"id":"c","type":"function",)"
            R"("function":{"name":"f","arguments":"{\"a\":"}}]})");
}

TEST(AnswerScript, OfNothingIsAnEmptyText) {
  const AnswerScript script({}, 0);
  ASSERT_EQ(script.size(), 1u);
  EXPECT_EQ(script.Delta(0), R"({"content":""})");
  EXPECT_EQ(script.Message(1, ""), R"({"role":"assistant","content":""})");
}

}  // namespace
}  // namespace plimsoll
