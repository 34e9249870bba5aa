#include "common/config/quantities.h"

#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

template <typename T>
struct Row {
  std::string_view text;
  T value;
  std::string_view printed;
};

template <typename T, typename Parse, typename Print>
void ExpectTable(const std::vector<Row<T>>& rows, const Parse& parse, const Print& print) {
  for (const Row<T>& row : rows) {
    const StatusOr<T> value = parse(row.text);
    ASSERT_TRUE(value.ok()) << row.text << ": " << MessageOf(value.status());
    EXPECT_TRUE(*value == row.value) << row.text;
    EXPECT_EQ(print(*value), row.printed);
    const StatusOr<T> again = parse(row.printed);
    ASSERT_TRUE(again.ok()) << row.printed;
    EXPECT_TRUE(*again == row.value) << row.printed;
  }
}

template <typename T>
std::string Refusal(const StatusOr<T>& value) {
  EXPECT_FALSE(value.ok());
  return value.ok() ? "" : std::string(MessageOf(value.status()));
}

TEST(Quantities, DurationsAreExact) {
  ExpectTable<Duration>({{"250ms", 250ms, "250ms"},
                         {"5.3s", 5300ms, "5.3s"},
                         {"2m", 2min, "2m"},
                         {"1h", 1h, "1h"},
                         {"90s", 90s, "90s"},
                         {"120s", 2min, "2m"},
                         {"1.5h", 90min, "90m"},
                         {"0s", 0s, "0s"},
                         {"0.1us", 100ns, "100ns"},
                         {"7 us", 7us, "7us"},
                         {"1.000000001s", 1s + 1ns, "1.000000001s"},
                         {"1500us", 1500us, "1.5ms"},
                         {"9223372036s", 9223372036s, "9223372036s"}},
                        ParseDuration, PrintDuration);
  EXPECT_EQ(PrintDuration(-1500ms), "-1.5s");
}

TEST(Quantities, DurationsRefuseWithTheRightForm) {
  EXPECT_EQ(Refusal(ParseDuration("250")), "\"250\" has no unit, write e.g. \"250s\" or \"250ms\"");
  EXPECT_EQ(
      Refusal(ParseDuration("5 minutes")),
      "\"5 minutes\" is a duration in an unknown unit, write e.g. \"250ms\", \"5.3s\", \"2m\" "
      "or \"1h\"");
  for (const std::string_view bad :
       {"", "s", "-1s", "+1s", "1..2s", ".5s", "1.s", "1e3s", "soon", "0.1ns", "9223372037s",
        "99999999999h", "1234567890123456789s", "1s 2ms", "1S", "NaN", "inf"}) {
    EXPECT_FALSE(ParseDuration(bad).ok()) << bad;
  }
}

TEST(Quantities, Shares) {
  ExpectTable<double>({{"50%", 0.5, "50%"},
                       {"2%", 0.02, "2%"},
                       {"2.5%", 0.025, "2.5%"},
                       {"0.1%", 0.001, "0.1%"},
                       {"100%", 1.0, "100%"},
                       {"0%", 0.0, "0%"},
                       {"33.3333 %", 0.333333, "33.3333%"}},
                      ParseShare, PrintShare);
  EXPECT_EQ(Refusal(ParseShare("2")), "\"2\" has no unit, write e.g. \"2%\"");
  EXPECT_THAT(Refusal(ParseShare("100.1%")), HasSubstr("more than the whole"));
  for (const std::string_view bad : {"", "%", "0.02", "-1%", "2%%", "half"}) {
    EXPECT_FALSE(ParseShare(bad).ok()) << bad;
  }
}

// Of quantities that are only read.
template <typename T>
using Values = std::vector<std::pair<std::string_view, T>>;

TEST(Quantities, TokenRates) {
  for (const auto& [text, value] : Values<double>{
           {"10 tok/s", 10}, {"12.5tok/s", 12.5}, {"0.1 tok/s", 0.1}, {"100000 tok/s", 100000}}) {
    const StatusOr<double> read = ParseTokenRate(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, value) << text;
  }
  EXPECT_EQ(Refusal(ParseTokenRate("10")), "\"10\" has no unit, write e.g. \"10 tok/s\"");
  for (const std::string_view bad : {"", "tok/s", "10 t/s", "10 tok", "-3 tok/s"}) {
    EXPECT_FALSE(ParseTokenRate(bad).ok()) << bad;
  }
}

TEST(Quantities, CountsByThousandsAndByPowersOfTwo) {
  for (const auto& [text, value] : Values<std::uint64_t>{{"15", 15},
                                                         {"0", 0},
                                                         {"64k", 64'000},
                                                         {"64Ki", 65'536},
                                                         {"1.5M", 1'500'000},
                                                         {"2Mi", 2'097'152},
                                                         {"1500", 1'500},
                                                         {"3M", 3'000'000}}) {
    const StatusOr<std::uint64_t> read = ParseCount(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(*read, value) << text;
  }
  for (const std::string_view bad : {"", "k", "1.5", "1.2345k", "-1", "64K", "1,000", "0x10",
                                     "999999999999999999M", "12 cats"}) {
    EXPECT_FALSE(ParseCount(bad).ok()) << bad;
  }
}

TEST(Quantities, MoneyIsExactToMillionths) {
  ExpectTable<Money>({{"14.40 USD", {14'400'000, "USD"}, "14.40 USD"},
                      {"14 EUR", {14'000'000, "EUR"}, "14.00 EUR"},
                      {"0.000001 CHF", {1, "CHF"}, "0.000001 CHF"},
                      {"3.125USD", {3'125'000, "USD"}, "3.125 USD"}},
                     ParseMoney, PrintMoney);
  EXPECT_EQ(Refusal(ParseMoney("14.40")), "\"14.40\" has no currency, write e.g. \"14.40 USD\"");
  for (const std::string_view bad :
       {"", "USD", "$14", "14 usd", "14 US", "14 USDX", "0.0000001 USD", "-1 USD"}) {
    EXPECT_FALSE(ParseMoney(bad).ok()) << bad;
  }
}

TEST(Quantities, LongNonsenseIsCutInMessages) {
  const std::string message = Refusal(ParseDuration(std::string(10'000, 'x')));
  EXPECT_LT(message.size(), 200u);
}

}  // namespace
}  // namespace plimsoll
