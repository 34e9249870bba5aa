#include "coordinator/cli/peak_words.h"

#include <chrono>

#include <absl/time/time.h>
#include <fmt/format.h>

#include "common/base/text.h"
#include "common/config/quantities.h"

namespace plimsoll {
namespace {

constexpr Duration kLastDefault = 7 * 24h;
constexpr Duration kLastMax = 366 * 24h;

}  // namespace

StatusOr<WallTime> ParseInstant(std::string_view text) {
  if (const auto seconds = ParseCount(text); seconds.ok() && *seconds < 9'000'000'000) {
    return WallTime(std::chrono::seconds(static_cast<std::int64_t>(*seconds)));
  }
  for (const char* form : {absl::RFC3339_full, "%Y-%m-%d"}) {
    absl::Time time;
    std::string error;
    if (!absl::ParseTime(form, absl::string_view(text.data(), text.size()), absl::UTCTimeZone(),
                         &time, &error)) {
      continue;
    }
    const std::int64_t seconds = absl::ToUnixSeconds(time);
    if (seconds < 0 || seconds >= 9'000'000'000) continue;  // "infinite-future" is a time, too.
    return WallTime(std::chrono::seconds(seconds));
  }
  return absl::InvalidArgumentError(fmt::format(
      "'{}' is no instant; write 2026-11-30T14:00:00Z, 2026-11-30 or seconds since 1970",
      Printable(text)));
}

StatusOr<Duration> ParseLast(std::string_view text) {
  Duration last{};
  if (text.ends_with('d')) {
    const auto days = ParseCount(text.substr(0, text.size() - 1));
    if (days.ok() && *days <= 366) last = static_cast<std::int64_t>(*days) * Duration(24h);
  } else if (const auto time = ParseDuration(text); time.ok()) {
    last = *time;
  }
  if (last >= 1s && last <= kLastMax) return last;
  return absl::InvalidArgumentError(fmt::format(
      "--last takes a time up to 366d, as 7d or 36h, and '{}' is none", Printable(text)));
}

StatusOr<TimeRange> RangeOf(const std::string& from, const std::string& to, const std::string& last,
                            WallTime now) {
  const auto whole = [](WallTime at) {
    return WallTime(std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()));
  };
  if (!last.empty() && (!from.empty() || !to.empty())) {
    return absl::InvalidArgumentError("give --last, or --from and --to, not both");
  }
  TimeRange range{.from = {}, .to = whole(now)};
  if (!to.empty()) {
    ASSIGN_OR_RETURN(range.to, ParseInstant(to));
    if (range.to > now) {
      return absl::InvalidArgumentError("--to lies in the future; nothing was measured there yet");
    }
  }
  Duration back = kLastDefault;
  if (!last.empty()) {
    ASSIGN_OR_RETURN(back, ParseLast(last));
  }
  range.from = whole(range.to - back);
  if (!from.empty()) {
    ASSIGN_OR_RETURN(range.from, ParseInstant(from));
  }
  return range;
}

StatusOr<Duration> ParseStep(std::string_view text) {
  const auto step = ParseDuration(text);
  if (!step.ok() || *step < 1s || *step > 1h || *step % Duration(1ms) != Duration{0}) {
    return absl::InvalidArgumentError(fmt::format(
        "--step takes a time from 1s to 1h, as often as Prometheus scrapes, and '{}' is none",
        Printable(text)));
  }
  return *step;
}

}  // namespace plimsoll
