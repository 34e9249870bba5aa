// Windows in local time: words, edges over midnight and over both changes of the clocks.
#include "coordinator/windows/window.h"

#include "gmock/gmock.h"
#include "tests/coordinator/windows/instants.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
using testing::Utc;
using testing::Window;
using testing::Zone;

TEST(Between, ReadsEdgesAndZone) {
  const auto night = ParseBetween("22:00-06:00 Europe/Berlin");
  ASSERT_TRUE(night.ok());
  EXPECT_EQ(night->opens, 22 * 60);
  EXPECT_EQ(night->closes, 6 * 60);
  EXPECT_EQ(night->zone, "Europe/Berlin");
  EXPECT_EQ(ParseBetween("00:00-24:00 UTC")->closes, 24 * 60);
  EXPECT_EQ(ParseBetween("12:00-00:00 UTC")->closes, 24 * 60) << "midnight ends the day";
}

TEST(Between, RefusesWhatIsNone) {
  for (const char* text :
       {"", "22:00", "22:00-06:00", "22:00-06:00 ", "22:00 06:00 UTC", "25:00-06:00 UTC",
        "22:60-06:00 UTC", "24:00-06:00 UTC", "24:01-06:00 UTC", "2:00-06:00 UTC",
        "22:00--6:00 UTC", "22:00-06:00\tUTC", "\xff\xfe"}) {
    const auto parsed = ParseBetween(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(std::string(MessageOf(parsed.status())), HasSubstr("22:00-06:00 Europe/Berlin"));
  }
}

TEST(Days, AreReadAndRefused) {
  EXPECT_EQ(*ParseDays("daily"), 0x7f);
  EXPECT_EQ(*ParseDays("weekdays"), 0x1f);
  EXPECT_EQ(*ParseDays("weekends"), 0x60);
  EXPECT_EQ(*ParseDays("mon,tue"), 0x03);
  EXPECT_EQ(*ParseDays("sun"), 0x40);
  for (const char* text : {"", "mon,", ",mon", "monday", "Mon", "mon tue"}) {
    EXPECT_FALSE(ParseDays(text).ok()) << text;
  }
}

TEST(Zones, AreTheDatabasesAndNothingElse) {
  for (const char* name : {"Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC", "Etc/GMT+5"}) {
    EXPECT_TRUE(TimeZone::Load(name).ok()) << name;
  }
  for (const char* name : {"", "Europe/Atlantis", "../zoneinfo/UTC", "/etc/passwd", "localtime",
                           "file:/etc/passwd", "Fixed/UTC+05:00:00", "europe berlin"}) {
    const auto zone = TimeZone::Load(name);
    ASSERT_FALSE(zone.ok()) << name;
    EXPECT_THAT(std::string(MessageOf(zone.status())), HasSubstr("Europe/Berlin"));
  }
  EXPECT_FALSE(TimeZone::Load(std::string(1000, 'a')).ok());
}

TEST(Zones, WeekdaysAreRight) {
  EXPECT_EQ(WeekdayOf(0), 3) << "1970-01-01 was a Thursday";
  EXPECT_EQ(WeekdayOf(-1), 2);
  EXPECT_EQ(WeekdayOf(-4), 6);
  EXPECT_EQ(WeekdayOf(Zone("Europe/Berlin").DayAt(Utc(2026, 12, 1, 12))), 1) << "a Tuesday";
  EXPECT_EQ(WeekdayOf(Zone("Europe/Berlin").DayAt(Utc(2026, 12, 1, 23, 30))), 2)
      << "already Wednesday in Berlin";
}

TEST(Windows, OverMidnightBelongToTheDayOfTheirOpening) {
  const WindowHours spec = Window("22:00-06:00 Europe/Berlin", 2h, "weekdays");
  const TimeZone zone = Zone("Europe/Berlin");
  // Friday 2026-12-04 at 22:00 in Berlin is 21:00 UTC; it is open into Saturday.
  EXPECT_THAT(NextStart(spec, zone, Utc(2026, 12, 5, 0)), Optional(Utc(2026, 12, 5, 0)));
  EXPECT_THAT(NextStart(spec, zone, Utc(2026, 12, 5, 3)), Optional(Utc(2026, 12, 5, 3)))
      << "two hours are left, to the second";
  EXPECT_THAT(NextStart(spec, zone, Utc(2026, 12, 5, 3, 0, 1)), Optional(Utc(2026, 12, 7, 21)))
      << "Saturday and Sunday open nothing";
}

TEST(Windows, InTheSpringNightAreAnHourShorter) {
  const TimeZone zone = Zone("Europe/Berlin");
  const WindowHours spec = Window("22:00-06:00 Europe/Berlin", 7h);
  const auto opening = NextOpening(spec, zone, WallTime::min(), Utc(2026, 3, 28, 20));
  ASSERT_TRUE(opening.has_value());
  EXPECT_EQ(opening->opens, Utc(2026, 3, 28, 21));
  EXPECT_EQ(opening->closes, Utc(2026, 3, 29, 4)) << "06:00 is 04:00 UTC from then on";
  EXPECT_EQ(LatestStart(spec, *opening), opening->opens) << "just so";
  const WindowHours whole = Window("22:00-06:00 Europe/Berlin", 8h);
  EXPECT_FALSE(Fits(whole, *opening, opening->opens));
  EXPECT_THAT(NextStart(whole, zone, Utc(2026, 3, 28, 20)), Optional(Utc(2026, 3, 29, 20)))
      << "the night after has its eight hours";
}

TEST(Windows, InTheAutumnNightAreAnHourLonger) {
  const WindowHours spec = Window("22:00-06:00 Europe/Berlin", 8h);
  const auto opening =
      NextOpening(spec, Zone("Europe/Berlin"), WallTime::min(), Utc(2026, 10, 24, 19));
  ASSERT_TRUE(opening.has_value());
  EXPECT_EQ(opening->opens, Utc(2026, 10, 24, 20));
  EXPECT_EQ(opening->closes, Utc(2026, 10, 25, 5));
  EXPECT_EQ(LatestStart(spec, *opening), Utc(2026, 10, 24, 21)) << "an hour to spare";
}

TEST(Windows, EdgesThatDoNotExistAreTheFirstInstantAfter) {
  const TimeZone zone = Zone("Europe/Berlin");
  const WindowHours opens = Window("02:30-05:00 Europe/Berlin", 2h);
  const auto opening = NextOpening(opens, zone, WallTime::min(), Utc(2026, 3, 28, 12));
  ASSERT_TRUE(opening.has_value());
  EXPECT_EQ(opening->opens, Utc(2026, 3, 29, 1)) << "03:00 there";
  EXPECT_EQ(opening->closes, Utc(2026, 3, 29, 3));
  const WindowHours inside = Window("02:10-02:50 Europe/Berlin", 30min);
  EXPECT_THAT(NextStart(inside, zone, Utc(2026, 3, 28, 12)), Optional(Utc(2026, 3, 30, 0, 10)))
      << "never open that night";
}

TEST(Windows, EdgesThatComeTwiceAreTheFirst) {
  const TimeZone zone = Zone("Europe/Berlin");
  const WindowHours spec = Window("01:00-02:30 Europe/Berlin", 1h);
  const auto opening = NextOpening(spec, zone, WallTime::min(), Utc(2026, 10, 24, 12));
  ASSERT_TRUE(opening.has_value());
  EXPECT_EQ(opening->opens, Utc(2026, 10, 24, 23));
  EXPECT_EQ(opening->closes, Utc(2026, 10, 25, 0, 30)) << "never beyond the time that was given";
  const WindowHours later = Window("02:30-05:00 Europe/Berlin", 1h);
  EXPECT_EQ(NextOpening(later, zone, WallTime::min(), Utc(2026, 10, 24, 12))->opens,
            Utc(2026, 10, 25, 0, 30));
}

TEST(Windows, ReadBackAsTheyWereWritten) {
  EXPECT_EQ(Words(Window("22:00-06:00 Europe/Berlin", 2h, "weekdays")),
            "22:00-06:00 Europe/Berlin, 2h (12m of it for the rollback), weekdays");
  WindowHours spec = Window("09:05-24:00 UTC", 30min, "mon,sun");
  spec.once = true;
  EXPECT_EQ(Words(spec), "09:05-24:00 UTC, 30m (3m of it for the rollback), mon,sun, once");
}

TEST(Windows, RefuseWhatCanNeverRun) {
  const WindowHours good = Window("22:00-06:00 UTC", 2h);
  WindowHours spec = good;
  spec.length = 8h + 1ns;
  EXPECT_THAT(std::string(MessageOf(CheckWindow(spec))), HasSubstr("never be started"));
  spec = good;
  spec.length = 1s;
  EXPECT_FALSE(CheckWindow(spec).ok());
  spec = good;
  spec.reserve = spec.length;
  EXPECT_THAT(std::string(MessageOf(CheckWindow(spec))), HasSubstr("leaves nothing"));
  spec.reserve = -1ns;
  EXPECT_FALSE(CheckWindow(spec).ok());
  spec = good;
  spec.days = 0;
  EXPECT_FALSE(CheckWindow(spec).ok());
}

TEST(Windows, OfAWholeYearStartOnceADayWhateverTheClocksDo) {
  const TimeZone zone = Zone("Europe/Berlin");
  const WindowHours spec = Window("22:00-06:00 Europe/Berlin", 2h);
  WallTime after = WallTime::min();
  int openings = 0;
  Duration open{};
  while (true) {
    const auto opening = NextOpening(spec, zone, after, Utc(2026, 1, 1, 6));
    ASSERT_TRUE(opening.has_value());
    if (opening->opens >= Utc(2027, 1, 1, 6)) break;
    ++openings;
    open += opening->closes - opening->opens;
    after = opening->opens;
  }
  EXPECT_EQ(openings, 365);
  EXPECT_EQ(open, 365 * 8h) << "what spring takes autumn gives";
}

}  // namespace
}  // namespace plimsoll
