// Log lines to standard error, behind a fence. Plain lines for people; nothing per request. The
// level comes from PLIMSOLL_LOG: trace, debug, info (default), warn, error, off.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace plimsoll {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

// Names the process in every line; once, at the start of main(). Without it lines have no name.
void SetUpLogging(std::string_view program);

bool LogEnabled(LogLevel level);
// Writes one line. Safe from any thread; never throws.
void LogLine(LogLevel level, std::string_view text);

template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kDebug)) {
    LogLine(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kInfo)) {
    LogLine(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
  }
}
template <typename... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(LogLevel::kError)) {
    LogLine(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
  }
}

}  // namespace plimsoll
