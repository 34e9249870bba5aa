#include "common/base/text.h"

#include <string>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(ShortTime, ReadsAtAGlance) {
  const std::pair<Duration, const char*> cases[] = {
      {0s, "0s"},        {-5s, "0s"},      {250ms, "0.2s"},  {2500ms, "2.5s"}, {9999ms, "9.9s"},
      {10s, "10s"},      {48900ms, "48s"}, {60s, "1m"},      {133s, "2m13s"},  {300s, "5m"},
      {3599s, "59m59s"}, {3600s, "1h00m"}, {3725s, "1h02m"}, {100h, "100h00m"}};
  for (const auto& [duration, text] : cases) EXPECT_EQ(ShortTime(duration), text);
}

TEST(Excerpt, IsOneLineOfValidText) {
  EXPECT_EQ(Excerpt("", 10), "");
  EXPECT_EQ(Excerpt("a\r\n\tb\x01\x7f", 10), "a\\r\\n\\tb\\x01\\x7f");
  EXPECT_EQ(Excerpt("caf\xC3\xA9 \xF0\x9F\x9A\xA2", 20), "caf\xC3\xA9 \xF0\x9F\x9A\xA2");
  EXPECT_EQ(Excerpt(std::string("a\0b", 3), 10), "a\\x00b");
}

TEST(Excerpt, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(Excerpt("\xFF", 10), "\\xff");
  EXPECT_EQ(Excerpt("\xC3", 10), "\\xc3");                    // Cut.
  EXPECT_EQ(Excerpt("\xC0\xAF", 10), "\\xc0\\xaf");           // Overlong.
  EXPECT_EQ(Excerpt("\xE0\x80\xAF", 10), "\\xe0\\x80\\xaf");  // Overlong.
  EXPECT_EQ(Excerpt("\xED\xA0\x80", 10), "\\xed\\xa0\\x80");  // A surrogate.
  EXPECT_EQ(Excerpt("\xF4\x90\x80\x80", 10), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(Excerpt("\x1f\x8b\x08", 10), "\\x1f\\x8b\\x08");
}

TEST(Excerpt, IsCutBetweenCharacters) {
  EXPECT_EQ(Excerpt("abc", 3), "abc");
  EXPECT_EQ(Excerpt("abcd", 3), "abc…");
  EXPECT_EQ(Excerpt("ab\xC3\xA9z", 3), "ab…");
  EXPECT_EQ(Excerpt("ab\xC3\xA9", 4), "ab\xC3\xA9");
}

}  // namespace
}  // namespace plimsoll
