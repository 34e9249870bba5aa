// Windows as people write them, and the instants that they mean. Pure.
//
// A window opens and closes at local times ("22:00-06:00 Europe/Berlin"; one that closes at or
// before its opening closes the day after), on some days of the week: the day is that of its
// opening. Edges are local times, lengths are elapsed time: the night in which clocks go forward is
// an hour shorter, and a run that needs eight hours does not fit into it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/base/time.h"
#include "coordinator/windows/time_zone.h"

namespace plimsoll {

inline constexpr std::uint8_t kEveryDay = 0x7f;  // Bit 0 is Monday.
inline constexpr Duration kWindowLengthMin = 10s;
inline constexpr Duration kWindowLengthMax = 24h;

struct WindowHours {
  int opens = 0;   // Minutes after midnight, 0 to 1439.
  int closes = 0;  // 1 to 1440; at or before `opens`: of the day after.
  std::string zone;
  std::uint8_t days = kEveryDay;  // On which it opens; at least one.
  Duration length{};              // For which a run may hold the deployment, its rollback included.
  Duration reserve{};             // Of that, kept for the rollback; less than `length`.
  bool once = false;              // One run, then no more.
  friend bool operator==(const WindowHours&, const WindowHours&) = default;
};

// One of a window's openings.
struct Opening {
  WallTime opens{};
  WallTime closes{};
  friend bool operator==(const Opening&, const Opening&) = default;
};

struct Between {
  int opens = 0;
  int closes = 0;
  std::string zone;
};
// "22:00-06:00 Europe/Berlin". InvalidArgument in words; the zone is not looked up.
StatusOr<Between> ParseBetween(std::string_view text);
// "daily", "weekdays", "weekends" or days: "mon,wed,fri". InvalidArgument in words.
StatusOr<std::uint8_t> ParseDays(std::string_view text);
// What each field must be, and that the window is ever as long as a run. InvalidArgument in words.
Status CheckWindow(const WindowHours& spec);

// What a run is told that its window is: less than `length`, so that it ends by its own reserve
// before it is told to from outside.
Duration OwnLength(Duration length);

// "22:00-06:00 Europe/Berlin, 2h (12m of it for the rollback), weekdays, once".
std::string Words(const WindowHours& spec);

// The first opening that opens after `after` and closes after `now`, of whatever length; nothing if
// there is none within a year.
std::optional<Opening> NextOpening(const WindowHours& spec, const TimeZone& zone, WallTime after,
                                   WallTime now);
// The last instant at which a run can begin that is over, rollback and all, before the opening
// ends; before `opening.opens` if it does not fit at all.
WallTime LatestStart(const WindowHours& spec, const Opening& opening);
// Whether a run that begins at `at` is over before the opening ends.
bool Fits(const WindowHours& spec, const Opening& opening, WallTime at);
// The first instant at or after `at` at which a run may begin and be over in time; nothing if there
// is none within a year.
std::optional<WallTime> NextStart(const WindowHours& spec, const TimeZone& zone, WallTime at);

}  // namespace plimsoll
