// Time zones of people: what a clock on their wall says. The fence of Abseil's time library, which
// reads the system's zoneinfo (package tzdata). Loading reads a file; all else is pure.
//
// An edge of a window is a local time, and twice a year a local time is not one instant: in spring
// an hour does not exist (what would lie in it is the first instant after it), in autumn one comes
// twice (it is the first of the two).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/base/time.h"

namespace plimsoll {

// Days since 1970-01-01 of the calendar on the wall.
using CivilDay = std::int64_t;

// 0 for Monday to 6 for Sunday.
int WeekdayOf(CivilDay day);

class TimeZone {
 public:
  // By its name in the IANA database: "Europe/Berlin", "UTC". InvalidArgument: no zone of this
  // machine is called so; a name never leaves the database's folder.
  static StatusOr<TimeZone> Load(std::string_view name);

  // The day on the wall at an instant.
  CivilDay DayAt(WallTime at) const;
  // The instant at which the wall's clock shows so many minutes after midnight of `day`, 0 to 1440;
  // see the header for those that are none or two.
  WallTime At(CivilDay day, int minute) const;
  // "Tue 2026-12-01 22:00 CET".
  std::string Text(WallTime at) const;

 private:
  struct Impl;
  explicit TimeZone(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace plimsoll
