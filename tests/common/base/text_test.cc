#include "common/base/text.h"

#include <string>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(ShortTime, ReadsAtAGlance) {
  const std::pair<Duration, const char*> cases[] = {
      {0s, "0s"},       {-5s, "0s"},        {250ms, "0.2s"},   {2500ms, "2.5s"},
      {9999ms, "9.9s"}, {10s, "10s"},       {48900ms, "48s"},  {60s, "1m"},
      {133s, "2m13s"},  {300s, "5m"},       {3599s, "59m59s"}, {3600s, "1h00m"},
      {3725s, "1h02m"}, {86399s, "23h59m"}, {24h, "1d00h"},    {545400s, "6d07h"}};
  for (const auto& [duration, text] : cases) EXPECT_EQ(ShortTime(duration), text);
}

TEST(Printable, IsOneLineOfValidText) {
  EXPECT_EQ(Printable("", 10), "");
  EXPECT_EQ(Printable("a\r\n\tb\x01\x7f", 10), "a\\r\\n\\tb\\x01\\x7f");
  EXPECT_EQ(Printable("caf\xC3\xA9 \xF0\x9F\x9A\xA2", 20), "caf\xC3\xA9 \xF0\x9F\x9A\xA2");
  EXPECT_EQ(Printable(std::string("a\0b", 3), 10), "a\\x00b");
}

TEST(Printable, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(Printable("\xFF", 10), "\\xff");
  EXPECT_EQ(Printable("\xC3", 10), "\\xc3");                    // Cut.
  EXPECT_EQ(Printable("\xC0\xAF", 10), "\\xc0\\xaf");           // Overlong.
  EXPECT_EQ(Printable("\xE0\x80\xAF", 10), "\\xe0\\x80\\xaf");  // Overlong.
  EXPECT_EQ(Printable("\xED\xA0\x80", 10), "\\xed\\xa0\\x80");  // A surrogate.
  EXPECT_EQ(Printable("\xF4\x90\x80\x80", 10), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(Printable("\x1f\x8b\x08", 10), "\\x1f\\x8b\\x08");
}

TEST(Printable, IsCutBetweenCharacters) {
  EXPECT_EQ(Printable("abc", 3), "abc");
  EXPECT_EQ(Printable("abcd", 3), "abc…");
  EXPECT_EQ(Printable("ab\xC3\xA9z", 3), "ab…");
  EXPECT_EQ(Printable("ab\xC3\xA9", 4), "ab\xC3\xA9");
  EXPECT_EQ(Printable(std::string(5000, 'a')).size(), 5000u);  // Whole unless asked.
  EXPECT_EQ(Printable("a", 0), "…");
}

TEST(Printable, NothingThatATerminalObeysIsLeft) {
  EXPECT_EQ(Printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "2J"),
            "\\xc2\\x9b2J");  // C1: as ESC [.
  EXPECT_EQ(Printable("\xC2\x80\xC2\x9F\xC2\xA0"), "\\xc2\\x80\\xc2\\x9f\xC2\xA0");
  EXPECT_EQ(Printable("a\xE2\x80\xA8"
                      "b\xE2\x80\xA9"),
            "a\\xe2\\x80\\xa8b\\xe2\\x80\\xa9");
  EXPECT_EQ(Printable("–…“”"), "–…“”");
  for (int byte = 0; byte < 256; ++byte) {
    for (const std::string& text :
         {std::string(1, static_cast<char>(byte)), std::string("\xC2") + static_cast<char>(byte)}) {
      const std::string shown = Printable(text);
      EXPECT_EQ(shown, ValidUtf8(shown));
      EXPECT_EQ(shown, Printable(shown)) << "is not what it is when shown again";
      for (const char c : shown) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << byte;
    }
  }
}

}  // namespace
}  // namespace plimsoll
