#include "common/base/text.h"

#include <algorithm>

#include <fmt/format.h>

namespace plimsoll {

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string ShortTime(Duration duration) {
  const std::int64_t tenths = std::max<std::int64_t>(0, duration / 100ms);
  const std::int64_t seconds = tenths / 10;
  if (seconds < 10 && tenths % 10 > 0) return fmt::format("{}.{}s", seconds, tenths % 10);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds >= 3600) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  if (seconds % 60 == 0) return fmt::format("{}m", seconds / 60);
  return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
}

}  // namespace plimsoll
