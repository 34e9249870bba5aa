// Texts of clients and of settings within the gateway's answers: whole, and always JSON in UTF-8.
#include "gateway/server/chat_format.h"

#include <gtest/gtest.h>

#include "common/json/json.h"

namespace plimsoll {
namespace {

std::string MessageIn(const std::string& answer) {
  const auto json = nlohmann::json::parse(answer, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << answer;
  return json.is_discarded() ? "" : json["error"]["message"].get<std::string>();
}

TEST(ChatFormat, TextsAreReadBackAsTheyWere) {
  for (const std::string text :
       {"modèle-café 🚢", "\"quoted\" \\ and\nlines\t\x01", "\x7f", "", "日本語"}) {
    EXPECT_EQ(MessageIn(ErrorAnswer(text, "t", "")), text);
    const auto models = nlohmann::json::parse(ModelsAnswer(text, 1, 2), nullptr, false);
    ASSERT_FALSE(models.is_discarded()) << text;
    EXPECT_EQ(models["data"][0]["id"], text);
  }
}

TEST(ChatFormat, BytesThatAreNoUtf8DoNotSpoilTheAnswer) {
  EXPECT_EQ(MessageIn(ErrorAnswer("a\xff z\xc3", "t", "")), "a\uFFFD z\uFFFD");
}

}  // namespace
}  // namespace plimsoll
