#include "common/loop/logging.h"

#include <cstdlib>
#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace plimsoll {
namespace {

spdlog::level::level_enum LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

std::shared_ptr<spdlog::logger> MakeLogger(const std::string& program) {
  auto logger =
      std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(
      program.empty() ? "%Y-%m-%dT%H:%M:%S.%eZ %l %v" : "%Y-%m-%dT%H:%M:%S.%eZ %n[%P] %l %v",
      spdlog::pattern_time_type::utc);
  const char* level = std::getenv("PLIMSOLL_LOG");
  // An unknown word reads as "off" in spdlog: better too much said than nothing.
  const auto parsed = spdlog::level::from_str(level == nullptr ? "info" : level);
  const bool unknown =
      parsed == spdlog::level::off && level != nullptr && std::string(level) != "off";
  logger->set_level(unknown ? spdlog::level::info : parsed);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

std::shared_ptr<spdlog::logger>& Logger() {
  static std::shared_ptr<spdlog::logger> logger = MakeLogger("");
  return logger;
}

}  // namespace

void SetUpLogging(std::string_view program) {
  Logger() = MakeLogger(std::string(program));
}

bool LogEnabled(LogLevel level) {
  return Logger()->should_log(LevelOf(level));
}

void LogLine(LogLevel level, std::string_view text) {
  try {
    Logger()->log(LevelOf(level), "{}", text);
  } catch (...) {  // A log line is never worth a process.
  }
}

}  // namespace plimsoll
