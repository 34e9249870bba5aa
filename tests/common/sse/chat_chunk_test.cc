#include "common/sse/chat_chunk.h"

#include <string>

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

using Kind = ChatChunk::Kind;

ChatChunk Parse(std::string_view payload) {
  static ChatChunkParser parser;  // Reused on purpose.
  ChatChunk chunk;
  chunk.error_message = "left over";
  const std::string exact(payload);
  parser.Parse(exact, &chunk);
  return chunk;
}
ChatChunk Delta(const std::string& delta) {
  return Parse(R"({"choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":null}]})");
}

TEST(ChatChunk, EveryChannelIsAToken) {
  EXPECT_TRUE(Delta(R"({"content":"a"})").has_token);
  EXPECT_TRUE(Delta(R"({"content":" "})").has_token);
  EXPECT_TRUE(Delta(R"({"reasoning":"a"})").has_token);
  EXPECT_TRUE(Delta(R"({"reasoning_content":"a","content":null})").has_token);
  EXPECT_TRUE(Delta(R"({"refusal":"no"})").has_token);
  EXPECT_TRUE(Delta(R"({"content":[{"type":"text","text":"a"}]})").has_token);
  EXPECT_TRUE(Delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"{"}}]})").has_token);
  EXPECT_TRUE(
      Delta(R"({"tool_calls":[{"id":"x","function":{"name":"f","arguments":""}}]})").has_token);
  EXPECT_TRUE(Delta(R"({"function_call":{"name":"f"}})").tool_call);
  EXPECT_TRUE(Parse(R"({"choices":[{"text":"a"}]})").has_token);
  EXPECT_TRUE(Parse(R"({"choices":[{"message":{"role":"assistant","content":"a"}}]})").has_token);
}

TEST(ChatChunk, NothingIsNoToken) {
  for (const char* delta : {R"({"role":"assistant","content":""})",
                            R"({"role":"assistant","content":null})", R"({"role":"assistant"})"}) {
    EXPECT_FALSE(Delta(delta).has_token) << delta;
    EXPECT_TRUE(Delta(delta).role_only) << delta;
  }
  EXPECT_FALSE(Delta("{}").has_token);
  EXPECT_FALSE(Delta("{}").role_only);
  EXPECT_FALSE(Delta("null").has_token);
  const ChatChunk empty_calls = Delta(R"({"content":"","tool_calls":[]})");
  EXPECT_FALSE(empty_calls.has_token);
  EXPECT_FALSE(empty_calls.tool_call);
  const ChatChunk blank_call =
      Delta(R"({"tool_calls":[{"index":0,"function":{"name":null,"arguments":""}}]})");
  EXPECT_FALSE(blank_call.has_token);
  EXPECT_TRUE(blank_call.tool_call);
}

TEST(ChatChunk, AnyChoiceCounts) {
  const ChatChunk chunk = Parse(
      R"({"choices":[{"delta":{"role":"assistant"}},{"delta":{"content":"x"},"finish_reason":"length"}]})");
  EXPECT_TRUE(chunk.has_token);
  EXPECT_FALSE(chunk.role_only);
  EXPECT_EQ(chunk.finish, FinishReason::kLength);
}

TEST(ChatChunk, ChoicesAreToldApart) {
  const ChatChunk chunk =
      Parse(R"({"choices":[{"delta":{"content":"a"},"index":1},{"index":2,"finish_reason":"stop"},)"
            R"({"index":70,"finish_reason":"length"}]})");
  EXPECT_TRUE(chunk.has_choices);
  EXPECT_EQ(chunk.choices,
            (std::uint64_t{1} << 1) | (std::uint64_t{1} << 2) | (std::uint64_t{1} << 63));
  EXPECT_EQ(chunk.finished, (std::uint64_t{1} << 2) | (std::uint64_t{1} << 63));
  EXPECT_EQ(chunk.finish, FinishReason::kLength);
  EXPECT_EQ(Parse(R"({"choices":[{"index":-1},{"index":"x"}]})").choices, 1u);
  EXPECT_FALSE(Parse(R"({"detail":"x"})").has_choices);
  EXPECT_TRUE(Parse(R"({"choices":[]})").has_choices);
}

TEST(ChatChunk, PiecesOfChoicesAreToldApartInAnyOrderOfKeys) {
  const std::string tool = R"({"tool_calls":[{"index":0,"function":{"name":"f"}},)"
                           R"({"index":1,"function":{"arguments":"{"}}]})";
  const std::string old = R"({"function_call":{"name":"g"}})";
  const auto choices = [](const std::string& list) {
    std::vector<std::uint32_t> of;
    for (const ToolCallPiece& piece : Parse(R"({"choices":[)" + list + "]}").tool_calls) {
      of.push_back(piece.choice);
    }
    return of;
  };
  using Of = std::vector<std::uint32_t>;
  EXPECT_EQ(choices(R"({"index":2,"delta":)" + tool + R"(},{"index":5,"delta":)" + old + "}"),
            (Of{2, 2, 5}));
  EXPECT_EQ(choices(R"({"delta":)" + tool + R"(,"index":2},{"delta":)" + old + R"(,"index":5})"),
            (Of{2, 2, 5}));
  EXPECT_EQ(choices(R"({"message":)" + old + R"(,"index":1},{"index":0,"message":)" + tool + "}"),
            (Of{1, 0, 0}));
  // Without an index, by their place.
  EXPECT_EQ(choices(R"({"delta":)" + tool + R"(},{"delta":)" + old + "}"), (Of{0, 0, 1}));
  // No index is taken for another, however large.
  EXPECT_EQ(
      choices(R"({"delta":)" + old + R"(,"index":4294967296},{"delta":)" + old + R"(,"index":0})"),
      (Of{0xFFFFFFFFu, 0}));
}

TEST(ChatChunk, AnEmptyListOfToolCallsIsToldFromNone) {
  EXPECT_TRUE(Delta(R"({"tool_calls":[]})").empty_tool_calls);
  EXPECT_FALSE(Delta(R"({"tool_calls":[]})").tool_call);
  EXPECT_FALSE(Delta(R"({"tool_calls":[]})").has_token);
  EXPECT_FALSE(Delta(R"({"tool_calls":[{}]})").empty_tool_calls);
  EXPECT_FALSE(Delta(R"({"tool_calls":null})").empty_tool_calls);
  EXPECT_FALSE(Delta(R"({"content":"a"})").empty_tool_calls);
}

TEST(ChatChunk, TheStrongerReasonWins) {
  using enum FinishReason;
  EXPECT_EQ(Stronger(kNone, kStop), kStop);
  EXPECT_EQ(Stronger(kStop, kNone), kStop);
  EXPECT_EQ(Stronger(kStop, kToolCalls), kStop);
  EXPECT_EQ(Stronger(kStop, kLength), kLength);
  EXPECT_EQ(Stronger(kLength, kFailed), kFailed);
  EXPECT_EQ(Stronger(kFailed, kStop), kFailed);
}

TEST(ChatChunk, ContentInPartsCountsByItsText) {
  EXPECT_FALSE(Delta(R"({"content":[]})").has_token);
  EXPECT_FALSE(Delta(R"({"content":[{"type":"text","text":""}]})").has_token);
  EXPECT_FALSE(Delta(R"({"content":[{"type":"image","url":"x"},7,null]})").has_token);
  EXPECT_TRUE(Delta(R"({"content":["a"]})").has_token);
  EXPECT_TRUE(Delta(R"({"content":[{"thinking":[{"text":""},{"text":"h"}]}]})").has_token);
  // Nested deeper than any server does: skipped, and the rest is still read.
  const std::string deep = std::string(40, '[') + "\"x\"" + std::string(40, ']');
  EXPECT_FALSE(Delta(R"({"content":)" + deep + "}").has_token);
  EXPECT_TRUE(Delta(R"({"content":)" + deep + R"(,"reasoning":"h"})").has_token);
}

TEST(ChatChunk, CustomToolCallsAndOtherSpellingsOfUsage) {
  EXPECT_TRUE(Delta(R"({"tool_calls":[{"custom":{"name":"f","input":"x"}}]})").has_token);
  EXPECT_TRUE(Delta(R"({"tool_calls":[{"custom":{"input":"x"}}]})").tool_call);
  EXPECT_EQ(Parse(R"({"choices":[],"usage":{"prompt_cache_hit_tokens":4}})").usage.cached, 4u);
}

TEST(ChatChunk, FinishReasons) {
  const auto finish = [](const std::string& reason) {
    return Parse(R"({"choices":[{"delta":{},"finish_reason":)" + reason + "}]}").finish;
  };
  EXPECT_EQ(finish("null"), FinishReason::kNone);
  EXPECT_EQ(finish("\"\""), FinishReason::kNone);
  EXPECT_EQ(finish("\"stop\""), FinishReason::kStop);
  EXPECT_EQ(finish("\"length\""), FinishReason::kLength);
  EXPECT_EQ(finish("\"tool_calls\""), FinishReason::kToolCalls);
  EXPECT_EQ(finish("\"content_filter\""), FinishReason::kOther);
  EXPECT_EQ(finish("\"error\""), FinishReason::kFailed);
  EXPECT_EQ(finish("\"abort\""), FinishReason::kFailed);
}

TEST(ChatChunk, UsageAbsentIsNotZero) {
  const ChatChunk full = Parse(
      R"({"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":8,"total_tokens":38,)"
      R"("prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":3}}})");
  EXPECT_TRUE(full.has_usage);
  EXPECT_EQ(full.usage, (ChatUsage{30, 8, 0, 3}));
  const ChatChunk bare = Parse(
      R"({"choices":[],"usage":{"prompt_tokens":30,"completion_tokens":8,"prompt_tokens_details":null}})");
  EXPECT_EQ(bare.usage, (ChatUsage{30, 8, kAbsentTokens, kAbsentTokens}));
  EXPECT_FALSE(Parse(R"({"choices":[],"usage":null})").has_usage);
  const ChatChunk odd = Parse(
      R"({"usage":{"prompt_tokens":-1,"completion_tokens":"8","prompt_tokens_details":{"cached_tokens":99999999999}},"choices":[{"delta":{"content":"x"}}]})");
  EXPECT_EQ(odd.usage, ChatUsage{});
  EXPECT_TRUE(odd.has_token);  // What follows an odd value is still read.
}

TEST(ChatChunk, Errors) {
  const ChatChunk object = Parse(
      R"({"error":{"message":"too \"long\"","type":"exceed_context_size_error","code":400}})");
  EXPECT_EQ(object.kind, Kind::kError);
  EXPECT_EQ(object.error_message, "too \"long\"");
  EXPECT_EQ(object.error_type, "exceed_context_size_error");
  EXPECT_EQ(object.error_code, "400");
  EXPECT_EQ(Parse(R"({"error":"words"})").error_message, "words");
  EXPECT_EQ(Parse(R"({"error":{}})").kind, Kind::kError);
  const ChatChunk old = Parse(R"({"object":"error","message":"m","code":"c"})");
  EXPECT_EQ(old.kind, Kind::kError);
  EXPECT_EQ(old.error_code, "c");
  EXPECT_EQ(Parse(R"({"error":null,"choices":[]})").kind, Kind::kChunk);
}

TEST(ChatChunk, DoneAndMalformed) {
  EXPECT_EQ(Parse("[DONE]").kind, Kind::kDone);
  EXPECT_EQ(Parse(" [DONE] ").kind, Kind::kDone);
  for (const char* bad :
       {"", " ", "[DONE", "null", "3", "\"x\"", "[]", "{",
        "{\"choices\":[{\"delta\":{\"content\":\"a",
        "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]", "{} {}", "<html>", "{\"a\":1,}",
        "{\"content\":\"\x80\"}", "{\"choices\":[{\"delta\":{\"content\":\"\\q\"}}]}"}) {
    const ChatChunk chunk = Parse(bad);
    EXPECT_EQ(chunk.kind, Kind::kMalformed) << bad;
    EXPECT_FALSE(chunk.has_token) << bad;
    EXPECT_EQ(chunk.error_message, "") << bad;
  }
  EXPECT_EQ(Parse("{}").kind, Kind::kChunk);
}

TEST(ChatChunk, AHugePayloadIsReadAndTheNextOneToo) {
  const std::string big =
      R"({"choices":[{"delta":{"content":")" + std::string(3u << 20, 'a') + "\"}}]}";
  EXPECT_TRUE(Parse(big).has_token);
  EXPECT_TRUE(Delta(R"({"content":"a"})").has_token);
}

// Against nlohmann: every prefix and every one-byte change of real payloads. What ours takes for
// whole, the strict parser must agree on wherever it can read it; no byte may crash it.
TEST(ChatChunk, AgreesWithAStrictParserOnDamagedText) {
  const std::string text =
      R"({"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":"h\u00e9"},"finish_reason":"stop"}],)"
      R"("usage":{"prompt_tokens":3,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":1}}})";
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_EQ(Parse(text.substr(0, cut)).kind, Kind::kMalformed) << cut;
  }
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Rng rng(seed);
    std::string damaged = text;
    damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Below(256));
    const auto strict = nlohmann::json::parse(damaged, nullptr, false);
    const ChatChunk chunk = Parse(damaged);
    if (!strict.is_object()) continue;  // Ours skips over values it does not need.
    ASSERT_NE(chunk.kind, Kind::kMalformed) << "seed " << seed << ": " << damaged;
    const auto usage = strict.value("usage", nlohmann::json());
    if (usage.is_object() && usage.contains("prompt_tokens") &&
        usage["prompt_tokens"].is_number_unsigned()) {
      EXPECT_EQ(chunk.usage.prompt, usage["prompt_tokens"].get<std::uint32_t>()) << seed;
    }
  }
}

}  // namespace
}  // namespace plimsoll
