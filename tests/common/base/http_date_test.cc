// Dates of HTTP, there and back, and what is none.
#include "common/base/http_date.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(HttpDate, ReadsTheStandardsExample) {
  EXPECT_EQ(ParseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT"), 784'111'777);
  EXPECT_EQ(ParseHttpDate("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
}

TEST(HttpDate, WritesWhatItReads) {
  EXPECT_EQ(FormatHttpDate(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
  for (const std::int64_t at : {std::int64_t{0}, std::int64_t{951'782'400},  // 29 Feb 2000.
                                std::int64_t{1'796'000'938}, std::int64_t{253'402'300'799}}) {
    EXPECT_EQ(ParseHttpDate(FormatHttpDate(at)), at) << FormatHttpDate(at);
  }
  EXPECT_EQ(FormatHttpDate(INT64_MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
  EXPECT_EQ(FormatHttpDate(INT64_MIN), FormatHttpDate(-62'167'219'200));
}

TEST(HttpDate, RefusesEverythingElse) {
  for (const char* text : {"", "1", "Sun, 06 Nov 1994 08:49:37", "Sun, 6 Nov 1994 08:49:37 GMT ",
                           "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nvo 1994 08:49:37 GMT",
                           "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
                           "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
                           "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(ParseHttpDate(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace plimsoll
