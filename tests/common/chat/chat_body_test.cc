#include "common/chat/chat_body.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/base/json_text.h"
#include "common/base/rng.h"
#include "common/json/json.h"

namespace plimsoll {
namespace {

std::string Block(std::uint64_t key, std::uint32_t id) {
  std::string text(limits::kBlockBytes, '?');
  WriteBlockText(key, id, text.data());
  return text;
}

Prompt RandomPrompt(Rng& rng) {
  Prompt prompt;
  const std::uint32_t blocks = 1 + static_cast<std::uint32_t>(rng.Below(30));
  for (std::uint32_t covered = 0; covered < blocks;) {
    const auto count = static_cast<std::uint32_t>(1 + rng.Below(blocks - covered));
    prompt.spans.push_back({rng.Below(3), static_cast<std::uint32_t>(rng.Below(100)), count});
    covered += count;
  }
  prompt.tokens = 64 * (blocks - 1) + 1 + static_cast<std::uint32_t>(rng.Below(64));
  for (std::uint32_t at = 0; at < prompt.tokens;) {
    const auto end = at + 1 + static_cast<std::uint32_t>(rng.Below(prompt.tokens - at));
    prompt.messages.push_back({static_cast<Role>(rng.Below(3)), at, end});
    at = end;
  }
  return prompt;
}

// The naive builder: all of the text first.
std::string Reference(const Prompt& prompt, const ChatBodyOptions& options) {
  std::string line;
  for (const BlockSpan& span : prompt.spans) {
    for (std::uint32_t i = 0; i < span.count; ++i) line += Block(span.key, span.first + i);
  }
  const char* roles[] = {"system", "user", "assistant"};
  std::string body = "{\"model\":\"" + JsonEscaped(options.model) + "\",\"messages\":[";
  for (std::size_t i = 0; i < prompt.messages.size(); ++i) {
    const MessageRange& m = prompt.messages[i];
    if (i > 0) body += ",";
    body += std::string("{\"role\":\"") + roles[static_cast<int>(m.role)] + "\",\"content\":\"" +
            line.substr(5 * m.first_token, 5 * (m.end_token - m.first_token)) + "\"}";
  }
  body += "],\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":" +
          std::to_string(options.max_tokens);
  if (options.min_tokens) body += ",\"min_tokens\":" + std::to_string(options.max_tokens);
  if (options.ignore_eos) body += ",\"ignore_eos\":true";
  if (!options.extra_fields.empty()) body += "," + std::string(options.extra_fields);
  return body + "}";
}

std::string ReadAll(ChatBody& body, Rng& rng, std::uint64_t largest) {
  std::string all;
  while (true) {
    std::vector<char> piece(1 + rng.Below(largest));
    const std::size_t n = body.Read(piece.data(), piece.size());
    if (n == 0) break;
    EXPECT_TRUE(n == piece.size() || all.size() + n == body.size());  // Short only at the end.
    all.append(piece.data(), n);
  }
  EXPECT_EQ(body.Read(all.data(), 1), 0u);
  return all;
}

TEST(ChatBody, AnySplitEqualsTheNaiveBuilder) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    const Prompt prompt = RandomPrompt(rng);
    ChatBodyOptions options;
    options.model = rng.Chance(0.5) ? "glm" : "we\"ird\\\n";
    options.max_tokens = static_cast<std::uint32_t>(rng.Below(100'000));
    options.min_tokens = rng.Chance(0.5);
    options.ignore_eos = rng.Chance(0.5);
    options.extra_fields = rng.Chance(0.5) ? R"("seed":3,"x":{"y":[]})" : "";
    const std::string want = Reference(prompt, options);
    for (const std::uint64_t largest : {1, 7, 400, 70'000}) {
      ChatBody body(prompt, options);
      ASSERT_EQ(body.size(), want.size()) << "seed " << seed;
      ASSERT_EQ(ReadAll(body, rng, largest), want) << "seed " << seed << " pieces " << largest;
    }
  }
}

TEST(ChatBody, IsTheJsonThatWasMeant) {
  Prompt prompt;
  prompt.tokens = 70;
  prompt.spans = {{9, 0, 2}};
  prompt.messages = {{Role::kSystem, 0, 10}, {Role::kAssistant, 10, 11}, {Role::kUser, 11, 70}};
  ChatBodyOptions options;
  options.model = "a\"b\\c\x01";
  options.max_tokens = 12;
  options.min_tokens = options.ignore_eos = options.tools = true;
  options.extra_fields = "\"seed\":3";
  ChatBody body(prompt, options);
  Rng rng(1);
  const auto json = nlohmann::json::parse(ReadAll(body, rng, 50));
  EXPECT_EQ(json["model"], "a\"b\\c\x01");
  EXPECT_EQ(json["messages"].size(), 3u);
  EXPECT_EQ(json["messages"][1]["role"], "assistant");
  EXPECT_EQ(json["messages"][1]["content"].get<std::string>().size(), 5u);
  EXPECT_EQ(json["messages"][2]["content"].get<std::string>().size(), 59u * 5);
  EXPECT_EQ(json["stream"], true);
  EXPECT_EQ(json["stream_options"]["include_usage"], true);
  EXPECT_EQ(json["max_tokens"], 12);
  EXPECT_EQ(json["min_tokens"], 12);
  EXPECT_EQ(json["ignore_eos"], true);
  EXPECT_EQ(json["tools"][0]["function"]["name"], "read_file");
  EXPECT_EQ(json["tools"][0]["function"]["parameters"]["required"][0], "path");
  EXPECT_EQ(json["seed"], 3);
}

TEST(ChatBody, LiveMessagesSayTheirOwnTextAtAnySplit) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Rng rng(seed);
    const Prompt prompt = RandomPrompt(rng);
    std::vector<std::string> texts(prompt.messages.size());
    std::vector<LiveMessage> live;
    std::vector<std::string> want;
    for (std::uint32_t m = 0; m < prompt.messages.size(); ++m) {
      const MessageRange& range = prompt.messages[m];
      want.emplace_back(std::size_t{limits::kTokenBytes} * (range.end_token - range.first_token),
                        ' ');
      PromptReader(prompt).Read(std::uint64_t{limits::kTokenBytes} * range.first_token,
                                want.back().data(), want.back().size());
      if (!rng.Chance(0.4)) continue;
      std::string text;
      while (rng.Chance(0.9)) text += rng.Chance(0.5) ? "\"\\\n\x02" : "w\u00e9\U0001F600 ";
      want.back() = text;
      texts[m] = JsonEscaped(text);
      live.push_back({.message = m, .json = texts[m]});
    }
    ChatBody body(prompt, {.model = "m", .max_tokens = 3, .live = live});
    const std::uint64_t size = body.size();
    const std::string all = ReadAll(body, rng, 1 + rng.Below(200));
    ASSERT_EQ(all.size(), size) << "seed " << seed;
    const auto json = nlohmann::json::parse(all, nullptr, /*allow_exceptions=*/false);
    ASSERT_FALSE(json.is_discarded()) << "seed " << seed;
    ASSERT_EQ(json["messages"].size(), want.size());
    for (std::size_t m = 0; m < want.size(); ++m) {
      ASSERT_EQ(json["messages"][m]["content"], want[m]) << "seed " << seed << " message " << m;
    }
  }
}

TEST(ChatBody, APromptOfAMillionTokensNeedsNoMemory) {
  Prompt prompt;
  prompt.tokens = 1'000'000;
  prompt.spans = {{9, 0, 15'625}};
  prompt.messages = {{Role::kUser, 0, 1'000'000}};
  ChatBody body(prompt, ChatBodyOptions{});
  std::vector<char> piece(65'536);
  std::uint64_t total = 0;
  while (const std::size_t n = body.Read(piece.data(), piece.size())) total += n;
  EXPECT_EQ(total, body.size());
  EXPECT_GT(total, 5'000'000u);
}

}  // namespace
}  // namespace plimsoll
