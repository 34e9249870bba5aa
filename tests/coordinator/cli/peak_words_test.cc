#include "coordinator/cli/peak_words.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

WallTime At(std::int64_t seconds) {
  return WallTime(std::chrono::seconds(seconds));
}

TEST(PeakWords, AnInstantIsATimeADayOrSeconds) {
  EXPECT_EQ(*ParseInstant("2026-11-30T14:00:00Z"), At(1'796'047'200));
  EXPECT_EQ(*ParseInstant("2026-11-30T15:00:00+01:00"), At(1'796'047'200));
  EXPECT_EQ(*ParseInstant("2026-11-30"), At(1'795'996'800));
  EXPECT_EQ(*ParseInstant("1796047200"), At(1'796'047'200));
  for (const char* bad : {"", "yesterday", "14:00", "2026-13-01", "infinite-future",
                          "infinite-past", "99999999999", "-5", "1965-01-01"}) {
    EXPECT_THAT(MessageOf(ParseInstant(bad).status()), HasSubstr("is no instant; write")) << bad;
  }
}

TEST(PeakWords, LastIsDaysOrADuration) {
  EXPECT_EQ(*ParseLast("7d"), Duration(168h));
  EXPECT_EQ(*ParseLast("36h"), Duration(36h));
  EXPECT_EQ(*ParseLast("90m"), Duration(90min));
  for (const char* bad : {"", "0d", "d", "367d", "-1d", "7 days", "10ms", "9000h"}) {
    EXPECT_THAT(MessageOf(ParseLast(bad).status()), HasSubstr("--last takes a time up to 366d"))
        << bad;
  }
}

TEST(PeakWords, AStepIsATimeThatPrometheusCanHave) {
  EXPECT_EQ(*ParseStep("15s"), Duration(15s));
  EXPECT_EQ(*ParseStep("1m"), Duration(1min));
  for (const char* bad : {"", "0s", "15", "500ms", "2h", "1.0000001s"}) {
    EXPECT_THAT(MessageOf(ParseStep(bad).status()), HasSubstr("--step takes a time from 1s to 1h"))
        << bad;
  }
}

TEST(PeakWords, TheRangeIsTheLastWeekUnlessSaid) {
  const WallTime now = At(1'796'047'200) + Duration(300ms);
  EXPECT_EQ(*RangeOf("", "", "", now), (TimeRange{At(1'796'047'200 - 604'800), At(1'796'047'200)}));
  EXPECT_EQ(RangeOf("", "", "2h", now)->from, At(1'796'040'000));
  EXPECT_EQ(*RangeOf("1796000000", "1796000600", "", now),
            (TimeRange{At(1'796'000'000), At(1'796'000'600)}));
  EXPECT_EQ(RangeOf("1796000000", "", "", now)->to, At(1'796'047'200));
  EXPECT_EQ(RangeOf("", "1796000000", "", now)->from, At(1'796'000'000 - 604'800));
  EXPECT_THAT(MessageOf(RangeOf("1796000000", "", "7d", now).status()), HasSubstr("not both"));
  EXPECT_THAT(MessageOf(RangeOf("", "1796047201", "", now).status()), HasSubstr("in the future"));
  EXPECT_FALSE(RangeOf("x", "", "", now).ok());
  EXPECT_FALSE(RangeOf("", "x", "", now).ok());
  EXPECT_FALSE(RangeOf("", "", "x", now).ok());
}

}  // namespace
}  // namespace plimsoll
