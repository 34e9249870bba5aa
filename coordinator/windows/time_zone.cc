#include "coordinator/windows/time_zone.h"

#include <algorithm>

#include <absl/time/civil_time.h>
#include <absl/time/time.h>
#include <fmt/format.h>

namespace plimsoll {

struct TimeZone::Impl {
  absl::TimeZone zone;
};

namespace {

constexpr std::size_t kNameBytesMax = 64;
constexpr int kDaysOfWeek = 7;
constexpr int kFirstDay = 3;  // 1970-01-01 was a Thursday.

bool IsZoneName(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || name.front() == '/') return false;
  if (name.find("..") != std::string_view::npos) return false;
  // What the database's files beside the zones are called is no zone, and "localtime" is whatever
  // the machine is set to: a window must mean the same on every machine.
  if (name == "localtime" || name.starts_with("posix") || name.starts_with("right")) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '/';
  });
}

absl::Time TimeOf(WallTime at) {
  return absl::FromUnixNanos(at.time_since_epoch().count());
}

}  // namespace

int WeekdayOf(CivilDay day) {
  const auto within = static_cast<int>((day + kFirstDay) % kDaysOfWeek);
  return within < 0 ? within + kDaysOfWeek : within;
}

StatusOr<TimeZone> TimeZone::Load(std::string_view name) {
  auto impl = std::make_shared<Impl>();
  if (!IsZoneName(name) || !absl::LoadTimeZone({name.data(), name.size()}, &impl->zone)) {
    return absl::InvalidArgumentError(
        fmt::format("'{}' is no time zone of this machine; write one of the IANA database, e.g. "
                    "Europe/Berlin or UTC (package tzdata)",
                    name.substr(0, kNameBytesMax)));
  }
  return TimeZone(std::move(impl));
}

CivilDay TimeZone::DayAt(WallTime at) const {
  return absl::ToCivilDay(TimeOf(at), impl_->zone) - absl::CivilDay(1970, 1, 1);
}

WallTime TimeZone::At(CivilDay day, int minute) const {
  const absl::CivilMinute wall =
      absl::CivilMinute(absl::CivilDay(1970, 1, 1) + day) + static_cast<std::int64_t>(minute);
  const absl::TimeZone::TimeInfo info = impl_->zone.At(absl::CivilSecond(wall));
  const bool skipped = info.kind == absl::TimeZone::TimeInfo::SKIPPED;
  return WallTime(Duration(absl::ToUnixNanos(skipped ? info.trans : info.pre)));
}

std::string TimeZone::Text(WallTime at) const {
  return absl::FormatTime("%a %Y-%m-%d %H:%M %Z", TimeOf(at), impl_->zone);
}

}  // namespace plimsoll
