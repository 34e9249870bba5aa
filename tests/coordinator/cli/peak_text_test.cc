// What `plimsoll peak` prints.
#include "coordinator/cli/peak_text.h"

#include <sstream>

#include "coordinator/report/text_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PeakLook AWeek() {
  PeakLook look{.url = "http://prom:9090",
                .query = "sum(vllm:num_requests_running) + sum(vllm:num_requests_waiting)",
                .range = {WallTime(1'795'442'400s), WallTime(1'796'047'200s)},
                .step = 15s};
  look.gauge = {.busiest = GaugeSummary::Minute{WallTime(1'796'000'000s), 60s, 42.5},
                .points = 40'321,
                .mean = 12.3};
  return look;
}

// Joined again, without the breaks.
std::string Flat(const std::string& text) {
  std::string flat;
  bool space = false;
  for (const char c : text) {
    const bool white = c == ' ' || c == '\n';
    if (white && !space) flat += ' ';
    if (!white) flat += c;
    space = white;
  }
  return flat;
}

TEST(PeakText, SaysWhenAndHowMany) {
  const std::string text = Flat(PeakText(AWeek()));
  EXPECT_THAT(text, HasSubstr("42.5 requests in flight, mean of 1m from 2026-11-30 00:53:20 UTC "
                              "(12.3 over the whole range)"));
  EXPECT_THAT(text,
              HasSubstr("2026-11-23 14:00:00 UTC to 2026-11-30 14:00:00 UTC, a sample each 15s: "
                        "40321 of 40321"));
  EXPECT_THAT(text, HasSubstr("name a --scenario or a --corpus"));
  EXPECT_THAT(text, Not(HasSubstr("gaps")));
}

TEST(PeakText, SaysHowManySessionsThatIs) {
  PeakLook look = AWeek();
  look.mix = MixInFlight{.tiers = {{"heavy", 0.5, 1.25}, {"light", 0.5, 1.0}}, .mean = 1.13};
  std::string text = Flat(PeakText(look));
  EXPECT_THAT(text,
              HasSubstr("38 of this mix keep as many in flight on average: one keeps 1.13 (50% "
                        "heavy 1.25, 50% light 1"));
  EXPECT_THAT(text, HasSubstr("think time none)"));
  EXPECT_THAT(text, HasSubstr("never pauses unless think_time says so"));
  look.think_time = ThinkTime::kRecorded;
  look.think_time_cap = 60s;
  text = Flat(PeakText(look));
  EXPECT_THAT(text, HasSubstr("think time recorded, at most 1m)"));
  EXPECT_THAT(text, Not(HasSubstr("never pauses")));
  look.mix = MixInFlight{};
  EXPECT_THAT(Flat(PeakText(look)), HasSubstr("no call that takes any time"));
  look.gauge.busiest->mean = 0;
  EXPECT_THAT(Flat(PeakText(look)), HasSubstr("none: nothing was in flight"));
}

TEST(PeakText, SaysGaps) {
  PeakLook look = AWeek();
  look.gauge.missing = 120;
  look.gauge.not_numbers = 3;
  look.gauge.longest_gap = 30min;
  const std::string text = Flat(PeakText(look));
  EXPECT_THAT(text, HasSubstr("40321 of 40444"));
  EXPECT_THAT(text, HasSubstr("120 samples missing, 3 not a number; the longest gap 30m: a busier "
                              "minute may lie in one"));
}

TEST(PeakText, SaysWhyThereIsNone) {
  PeakLook look = AWeek();
  look.gauge = {.missing = 40'321};
  EXPECT_THAT(WhyNoPeak(look),
              HasSubstr("the query finds nothing between 2026-11-23 14:00:00 UTC"));
  look.gauge = {.not_numbers = 5, .missing = 40'316};
  EXPECT_THAT(WhyNoPeak(look), HasSubstr("5 of its samples are not a number"));
  look.gauge = {.points = 3, .missing = 18};
  EXPECT_THAT(WhyNoPeak(look), HasSubstr("no minute is whole: 3 samples of 21"));
  EXPECT_THAT(Flat(PeakText(look)), HasSubstr("no minute is whole"));
}

TEST(PeakText, FitsAHundredColumns) {
  PeakLook look = AWeek();
  look.gauge.missing = 120;
  look.mix = MixInFlight{.tiers = {{"heavy", 0.5, 1.25}, {"light", 0.5, 1.0}}, .mean = 1.13};
  look.query = std::string(300, 'q') + "\x1b[31m";
  std::istringstream lines(PeakText(look));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(Columns(line), 100u) << line;
  EXPECT_THAT(PeakText(look), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace plimsoll
