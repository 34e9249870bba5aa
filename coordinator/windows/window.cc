#include "coordinator/windows/window.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/config/quantities.h"

namespace plimsoll {
namespace {

constexpr int kMinutesOfDay = 24 * 60;
constexpr int kDaysAhead = 366 + 7;
constexpr std::array<std::string_view, 7> kDayNames = {"mon", "tue", "wed", "thu",
                                                       "fri", "sat", "sun"};
constexpr std::uint8_t kWeekdays = 0x1f;
constexpr std::uint8_t kWeekends = 0x60;

// "22:00" as minutes; nothing if it is none. 24:00 is one.
std::optional<int> ParseClock(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const std::size_t i : {0u, 1u, 3u, 4u}) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
  }
  const int hours = (text[0] - '0') * 10 + (text[1] - '0');
  const int minutes = (text[3] - '0') * 10 + (text[4] - '0');
  if (minutes > 59 || hours > 24 || (hours == 24 && minutes > 0)) return std::nullopt;
  return hours * 60 + minutes;
}

Status NotBetween(std::string_view text) {
  return absl::InvalidArgumentError(fmt::format(
      "'{}' says no window, write e.g. \"22:00-06:00 Europe/Berlin\"", text.substr(0, 80)));
}

std::string DayWords(std::uint8_t days) {
  if (days == kEveryDay) return "daily";
  if (days == kWeekdays) return "weekdays";
  if (days == kWeekends) return "weekends";
  std::string text;
  for (std::size_t day = 0; day < kDayNames.size(); ++day) {
    if ((days >> day & 1) == 0) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ",", kDayNames[day]);
  }
  return text;
}

Opening OpeningOf(const WindowHours& spec, const TimeZone& zone, CivilDay day) {
  const CivilDay last = spec.closes > spec.opens ? day : day + 1;
  return {.opens = zone.At(day, spec.opens), .closes = zone.At(last, spec.closes)};
}

}  // namespace

StatusOr<Between> ParseBetween(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return NotBetween(text);
  const std::string_view hours = text.substr(0, space);
  const std::string_view zone =
      text.substr(text.find_first_not_of(' ', space) == std::string_view::npos
                      ? text.size()
                      : text.find_first_not_of(' ', space));
  if (hours.size() != 11 || hours[5] != '-' || zone.empty()) return NotBetween(text);
  const auto opens = ParseClock(hours.substr(0, 5));
  const auto closes = ParseClock(hours.substr(6));
  if (!opens || !closes || *opens == kMinutesOfDay) return NotBetween(text);
  // 00:00 as an end is the end of the day.
  return Between{
      .opens = *opens, .closes = *closes == 0 ? kMinutesOfDay : *closes, .zone = std::string(zone)};
}

StatusOr<std::uint8_t> ParseDays(std::string_view text) {
  if (text == "daily") return kEveryDay;
  if (text == "weekdays") return kWeekdays;
  if (text == "weekends") return kWeekends;
  std::uint8_t days = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto* day =
        std::find(kDayNames.begin(), kDayNames.end(), text.substr(begin, end - begin));
    if (day == kDayNames.end()) {
      return absl::InvalidArgumentError(
          fmt::format("'{}' says no days, write daily, weekdays, weekends or e.g. mon,wed,fri",
                      text.substr(0, 80)));
    }
    days |= static_cast<std::uint8_t>(1u << (day - kDayNames.begin()));
    begin = end + 1;
  }
  return days;
}

Status CheckWindow(const WindowHours& spec) {
  if (spec.opens < 0 || spec.opens >= kMinutesOfDay || spec.closes < 1 ||
      spec.closes > kMinutesOfDay) {
    return absl::InvalidArgumentError("a window opens and closes within a day");
  }
  if (spec.days == 0 || spec.days > kEveryDay) {
    return absl::InvalidArgumentError("a window opens on at least one day of the week");
  }
  if (spec.length < kWindowLengthMin || spec.length > kWindowLengthMax) {
    return absl::InvalidArgumentError(
        fmt::format("a length of {} is none, it must be from {} to {}", PrintDuration(spec.length),
                    PrintDuration(kWindowLengthMin), PrintDuration(kWindowLengthMax)));
  }
  if (spec.reserve < Duration{0} || spec.reserve >= spec.length) {
    return absl::InvalidArgumentError(
        fmt::format("a reserve of {} leaves nothing of a length of {}; the length holds the "
                    "rollback's reserve",
                    PrintDuration(spec.reserve), PrintDuration(spec.length)));
  }
  const int open = spec.closes > spec.opens ? spec.closes - spec.opens
                                            : spec.closes + kMinutesOfDay - spec.opens;
  if (spec.length > std::chrono::minutes(open)) {
    return absl::InvalidArgumentError(
        fmt::format("the window is open for {} and the run takes {} with its rollback: it would "
                    "never be started; make one longer or the other shorter",
                    PrintDuration(std::chrono::minutes(open)), PrintDuration(spec.length)));
  }
  return absl::OkStatus();
}

Duration OwnLength(Duration length) {
  constexpr Duration kEarlier = 5s;
  constexpr int kPart = 20;
  return std::chrono::floor<std::chrono::milliseconds>(length - std::min(kEarlier, length / kPart));
}

std::string Words(const WindowHours& spec) {
  return fmt::format("{:02}:{:02}-{:02}:{:02} {}, {} ({} of it for the rollback), {}{}",
                     spec.opens / 60, spec.opens % 60, spec.closes / 60, spec.closes % 60,
                     spec.zone, PrintDuration(spec.length), PrintDuration(spec.reserve),
                     DayWords(spec.days), spec.once ? ", once" : "");
}

std::optional<Opening> NextOpening(const WindowHours& spec, const TimeZone& zone, WallTime after,
                                   WallTime now) {
  // One that opened yesterday may be open still, and clocks differ by a day at most.
  const CivilDay first = zone.DayAt(std::max(after, now)) - 2;
  for (CivilDay day = first; day < first + kDaysAhead; ++day) {
    if ((spec.days >> WeekdayOf(day) & 1) == 0) continue;
    const Opening opening = OpeningOf(spec, zone, day);
    // Both edges in the hour that does not exist: it is not open at all.
    if (opening.closes <= opening.opens) continue;
    if (opening.opens > after && opening.closes > now) return opening;
  }
  return std::nullopt;
}

WallTime LatestStart(const WindowHours& spec, const Opening& opening) {
  return opening.closes - spec.length;
}

bool Fits(const WindowHours& spec, const Opening& opening, WallTime at) {
  return at >= opening.opens && at <= LatestStart(spec, opening);
}

std::optional<WallTime> NextStart(const WindowHours& spec, const TimeZone& zone, WallTime at) {
  WallTime after = WallTime::min();
  for (int i = 0; i < kDaysAhead; ++i) {
    const std::optional<Opening> opening = NextOpening(spec, zone, after, at);
    if (!opening) return std::nullopt;
    const WallTime start = std::max(at, opening->opens);
    if (Fits(spec, *opening, start)) return start;
    after = opening->opens;
  }
  return std::nullopt;
}

}  // namespace plimsoll
