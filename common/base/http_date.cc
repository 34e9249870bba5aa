#include "common/base/http_date.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

namespace plimsoll {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::int64_t kFirst = -62'167'219'200;  // Year 0.
constexpr std::int64_t kLast = 253'402'300'799;   // The end of 9999.

// The digits of [at, at + length) as a number from 0 to `most`; anything else is nothing.
std::optional<int> Field(std::string_view text, std::size_t at, std::size_t length, int most) {
  int value = 0;
  const char* const begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, begin + length, value);
  if (error != std::errc{} || end != begin + length || value < 0 || value > most) return {};
  return value;
}

}  // namespace

std::string FormatHttpDate(std::int64_t seconds) {
  using std::chrono::days;
  const std::chrono::sys_seconds at{
      std::chrono::seconds(std::clamp<std::int64_t>(seconds, kFirst, kLast))};
  const auto day = std::chrono::floor<days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  return fmt::format(
      "{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[std::chrono::weekday(day).c_encoding()],
      static_cast<unsigned>(date.day()), kMonths[static_cast<unsigned>(date.month()) - 1],
      static_cast<int>(date.year()), time.hours().count(), time.minutes().count(),
      time.seconds().count());
}

// Every character has its place: "Sun, 06 Nov 1994 08:49:37 GMT".
std::optional<std::int64_t> ParseHttpDate(std::string_view text) {
  constexpr std::string_view kShape = "___, __ ___ ____ __:__:__ GMT";
  if (text.size() != kShape.size()) return {};
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] != '_' && kShape[i] != text[i]) return {};
  }
  const auto* const month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const bool weekday = std::find(kDays.begin(), kDays.end(), text.substr(0, 3)) != kDays.end();
  const auto day = Field(text, 5, 2, 31);
  const auto year = Field(text, 12, 4, 9999);
  const auto hour = Field(text, 17, 2, 23);
  const auto minute = Field(text, 20, 2, 59);
  const auto second = Field(text, 23, 2, 60);  // A leap second.
  if (!weekday || month == kMonths.end() || !day || !year || !hour || !minute || !second) return {};
  const std::chrono::year_month_day date(
      std::chrono::year(*year),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return {};
  const std::chrono::sys_seconds at = std::chrono::sys_days(date) + std::chrono::hours(*hour) +
                                      std::chrono::minutes(*minute) + std::chrono::seconds(*second);
  return at.time_since_epoch().count();
}

}  // namespace plimsoll
