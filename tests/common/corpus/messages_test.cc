#include "common/corpus/messages.h"

#include <gmock/gmock.h>

#include "tests/common/corpus/trace_json.h"

namespace plimsoll {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

Json Say(const char* role, const Json& content) {
  return {{"role", role}, {"content", content}};
}

Json MakeConversation() {
  return {{"messages",
           {Say("system", std::string(400, 's')), Say("user", std::string(200, 'u')),
            Say("assistant", std::string(80, 'a')), Say("user", std::string(40, 'u')),
            Say("assistant", std::string(120, 'b'))}},
          {"model", "m"}};
}

TEST(Messages, TokensAreAQuarterOfAsciiAndEveryOtherCharacter) {
  EXPECT_EQ(EstimateTokens(""), 0u);
  EXPECT_EQ(EstimateTokens("a"), 1u);
  EXPECT_EQ(EstimateTokens("abcde"), 2u);
  EXPECT_EQ(EstimateTokens("\xe6\x97\xa5\xe6\x9c\xac"), 2u);
  EXPECT_EQ(EstimateTokens("abcd\xc3\xa9"), 2u);
  EXPECT_EQ(EstimateTokens("\xff\x80"), 1u) << "what is no UTF-8 is counted as well";
}

TEST(Messages, EveryAnswerIsACallWithAllBeforeIt) {
  const Recording recording = ReadAll(MakeConversation().dump());
  EXPECT_EQ(recording.form, TraceForm::kMessages);
  const Session& session = recording.sessions.at(0).session;
  EXPECT_THAT(ColumnOf(session, &Call::tokens_in), ElementsAre(104 + 54, 104 + 54 + 24 + 14));
  EXPECT_THAT(ColumnOf(session, &Call::tokens_out), ElementsAre(20, 30));
  EXPECT_THAT(ColumnOf(session, &Call::kept_blocks), ElementsAre(0, 2));
  EXPECT_EQ(session.streams[0].prefix_blocks, 1u);
  EXPECT_EQ(session.calls[1].flags, kUserTurn | kServiceImputed);
  EXPECT_EQ(NoteCount(recording.notes, "estimated from text"), 2u);
}

TEST(Messages, OneSystemPromptIsOneClass) {
  Json other = MakeConversation();
  other["messages"][1]["content"] = "something else";
  const Session a = ReadOne(MakeConversation());
  EXPECT_EQ(a.streams[0].prefix_class, ReadOne(other).streams[0].prefix_class);
  other["messages"][0]["content"] = std::string(400, 't');
  EXPECT_NE(a.streams[0].prefix_class, ReadOne(other).streams[0].prefix_class);
}

TEST(Messages, AQuestionAtTheEndIsACallOfTheLengthAskedFor) {
  Json open = MakeConversation();
  open["messages"].erase(4);
  EXPECT_EQ(ReadOne(open).calls.at(1).tokens_out, 216u);
  open["max_tokens"] = 99;
  EXPECT_EQ(ReadOne(open).calls.at(1).tokens_out, 99u);
}

TEST(Messages, ToolsPartsAndToolCalls) {
  Json chat = MakeConversation();
  chat["tools"] = {{{"type", "function"}, {"function", {{"name", "f"}}}}};
  chat["messages"] = {
      Say("user", {{{"type", "text"}, {"text", "abcd"}},
                   {{"type", "image_url"}, {"image_url", {{"url", "x"}}}}}),
      {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", {{{"id", "1"}}}}},
      {{"role", "tool"}, {"tool_call_id", "1"}, {"content", "done"}},
      Say("assistant", "ok")};
  const Recording recording = ReadAll(chat.dump());
  const Session& session = recording.sessions.at(0).session;
  const std::uint64_t tools = EstimateTokens(chat["tools"].dump());
  ASSERT_EQ(session.calls.size(), 2u);
  EXPECT_EQ(session.calls[0].tokens_in, tools + 5);
  EXPECT_EQ(session.calls[0].tokens_out, EstimateTokens(R"([{"id":"1"}])"));
  EXPECT_EQ(session.calls[0].flags, kUserTurn | kStopToolUse | kServiceImputed);
  EXPECT_EQ(session.calls[1].flags, kToolTurn | kServiceImputed);
  EXPECT_EQ(NoteCount(recording.notes, "no text"), 1u);
}

TEST(Messages, BatchLinesWrapThem) {
  const Json line = {{"custom_id", "q7"}, {"method", "POST"}, {"body", MakeConversation()}};
  const Session session = ReadOne(line);
  EXPECT_EQ(session.id, "q7");
  EXPECT_EQ(session.calls.size(), 2u);
}

TEST(Messages, ShareGptIsAListOrLines) {
  const Json one = {{"id", "c1"},
                    {"conversations",
                     {{{"from", "gpt"}, {"value", "hello there"}},
                      {{"from", "human"}, {"value", "question"}},
                      {{"from", "gpt"}, {"value", "answer"}}}}};
  const Json empty = {{"id", "c2"}, {"conversations", Json::array()}};
  for (const std::string& text : {Json{one, empty}.dump(2), one.dump() + "\n" + empty.dump()}) {
    const Recording recording = ReadAll(text);
    EXPECT_EQ(recording.form, TraceForm::kShareGpt);
    ASSERT_EQ(recording.sessions.size(), 1u);
    EXPECT_EQ(recording.sessions[0].session.id, "c1");
    ASSERT_EQ(recording.sessions[0].session.calls.size(), 1u);
    EXPECT_EQ(recording.sessions[0].session.calls[0].tokens_in, 7u + 6);
    EXPECT_EQ(NoteCount(recording.notes, "answers to no question"), 1u);
    EXPECT_EQ(NoteCount(recording.notes, "ask nothing"), 1u);
  }
}

TEST(Messages, SaysWhatIsWrongOnWhichLine) {
  const std::string good = MakeConversation().dump() + "\n";
  EXPECT_THAT(WhyRefused(good + R"({"messages":[{"role":"pope","content":"x"}]})"),
              HasSubstr("f:2: messages[0].role: unknown role \"pope\""));
  EXPECT_THAT(WhyRefused(good + R"({"messages":[{"role":"user"}]})"),
              HasSubstr("f:2: messages[0].content: missing"));
  EXPECT_THAT(WhyRefused(good + R"({"messages":[{"role":"user","content":7}]})"),
              HasSubstr("f:2: messages[0].content: expected a string, got a whole number"));
  EXPECT_THAT(WhyRefused(good + R"({"messages":["x"]})"),
              HasSubstr("f:2: messages[0]: expected a message"));
  EXPECT_THAT(WhyRefused(good + R"({"body":{"input":"x"}})"), HasSubstr("messages: missing"));
  EXPECT_THAT(WhyRefused(good + "[7]"), HasSubstr("expected an object"));
  EXPECT_THAT(WhyRefused(good + "{\"messages\":[\n"), HasSubstr("f:2: not one whole JSON"));
}

}  // namespace
}  // namespace plimsoll
