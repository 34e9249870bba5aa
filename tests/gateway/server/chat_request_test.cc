// Bodies to requests: tokens, blocks, lengths, and what is refused.
#include "gateway/server/chat_request.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

std::string Words(int count, std::string_view word = "word") {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::string(word) + std::to_string(i) + " ";
  return text;
}

TEST(PromptHasher, CountsWordsBetweenWhiteSpace) {
  PromptHasher prompt;
  prompt.Add("  one two\n\tthree ");
  prompt.Add("four");
  prompt.Add("");
  prompt.Add("five");  // Does not run on from "four".
  EXPECT_EQ(prompt.tokens(), 5u);
  EXPECT_TRUE(prompt.blocks().empty());
}

TEST(PromptHasher, EqualPrefixesGiveEqualBlocks) {
  PromptHasher one, longer, other;
  one.Add(Words(200));
  longer.Add(Words(128));
  longer.Add(Words(200, "else"));
  other.Add("x " + Words(199));
  ASSERT_EQ(one.blocks().size(), 3u);
  ASSERT_EQ(longer.blocks().size(), 5u);
  EXPECT_EQ(one.blocks()[0], longer.blocks()[0]);
  EXPECT_EQ(one.blocks()[1], longer.blocks()[1]);
  EXPECT_FALSE(one.blocks()[2] == longer.blocks()[2]);
  EXPECT_FALSE(one.blocks()[0] == other.blocks()[0]);
  // The chain: equal 64 words after different ones are another block.
  PromptHasher a, b;
  a.Add(Words(64, "a") + Words(64));
  b.Add(Words(64, "b") + Words(64));
  EXPECT_FALSE(a.blocks()[1] == b.blocks()[1]);
}

TEST(ChatRequest, ReadsWhatTheEngineNeeds) {
  const auto request = ParseChatRequest(R"({"model":"m","stream":true,
    "stream_options":{"include_usage":true},"max_tokens":7,"min_tokens":2,"ignore_eos":true,
    "temperature":0.5,"tools":[],"n":1,
    "messages":[{"role":"system","content":"a b"},
                {"role":"user","content":[{"type":"text","text":"c d"},{"type":"image_url"}]},
                {"role":"assistant","content":null,"tool_calls":[]},
                {"role":"user","content":"e"}]})");
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_EQ(request->model, "m");
  EXPECT_TRUE(request->stream);
  EXPECT_TRUE(request->include_usage);
  EXPECT_EQ(request->max_tokens, 7u);
  EXPECT_EQ(request->min_tokens, 2u);
  EXPECT_TRUE(request->ignore_eos);
  EXPECT_EQ(request->prompt.tokens(), 5u);
  EXPECT_NE(request->first_user_hash, 0u);
}

TEST(ChatRequest, NewerLimitWins) {
  const auto request = ParseChatRequest(
      R"({"model":"m","max_tokens":7,"max_completion_tokens":9,"stream":null,
          "messages":[{"role":"user","content":"e"}]})");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->max_tokens, 9u);
  EXPECT_FALSE(request->stream);
}

TEST(ChatRequest, RefusesBadBodiesWithTheReason) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"\xff\xfe", "not JSON"},
      {"[]", "must be a JSON object"},
      {R"({"messages":[]})", "'model'"},
      {R"({"model":"m"})", "'messages'"},
      {R"({"model":"m","messages":[]})", "'messages'"},
      {R"({"model":"m","messages":"x"})", "'messages'"},
      {R"({"model":"m","messages":[5]})", "'role'"},
      {R"({"model":"m","messages":[{"role":"user","content":5}]})", "'content'"},
      {R"({"model":"m","max_tokens":0,"messages":[]})", "'max_tokens'"},
      {R"({"model":"m","max_tokens":-4,"messages":[]})", "'max_tokens'"},
      {R"({"model":"m","max_tokens":1e30,"messages":[]})", "'max_tokens'"},
      {R"({"model":"m","max_tokens":5000000000,"messages":[]})", "'max_tokens'"},
      {R"({"model":"m","stream":"yes","messages":[]})", "'stream'"},
      {R"({"model":"m","max_tokens":3,"min_tokens":4,"messages":[]})", "'min_tokens'"},
      {R"({"model":"m","n":2,"messages":[]})", "'n'"},
  };
  for (const auto& [body, reason] : bad) {
    const auto request = ParseChatRequest(body);
    ASSERT_FALSE(request.ok()) << body;
    EXPECT_THAT(std::string(MessageOf(request.status())), HasSubstr(reason)) << body;
  }
  EXPECT_FALSE(ParseChatRequest(std::string(100'000, '[')).ok());
}

}  // namespace
}  // namespace plimsoll
