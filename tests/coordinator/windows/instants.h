// Fixed instants for the tests of windows, written in UTC.
#pragma once

#include <chrono>
#include <string>

#include "coordinator/windows/time_zone.h"
#include "coordinator/windows/window.h"
#include "gtest/gtest.h"

namespace plimsoll::testing {

inline WallTime Utc(int year, unsigned month, unsigned day, int hour, int minute = 0,
                    int second = 0) {
  const std::chrono::sys_days days =
      std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(day);
  return WallTime(Duration(days.time_since_epoch()) + std::chrono::hours(hour) +
                  std::chrono::minutes(minute) + std::chrono::seconds(second));
}

inline TimeZone Zone(const char* name) {
  auto zone = TimeZone::Load(name);
  EXPECT_TRUE(zone.ok()) << MessageOf(zone.status());
  return *zone;
}

inline WindowHours Window(const char* between, Duration length, const char* days = "daily") {
  const auto parsed = ParseBetween(between);
  EXPECT_TRUE(parsed.ok()) << MessageOf(parsed.status());
  const auto on = ParseDays(days);
  EXPECT_TRUE(on.ok()) << MessageOf(on.status());
  WindowHours spec{.opens = parsed->opens,
                   .closes = parsed->closes,
                   .zone = parsed->zone,
                   .days = *on,
                   .length = length,
                   .reserve = length / 10,
                   .once = false};
  EXPECT_TRUE(CheckWindow(spec).ok()) << MessageOf(CheckWindow(spec));
  return spec;
}

}  // namespace plimsoll::testing
