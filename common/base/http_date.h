// Instants as HTTP writes them: "Sun, 06 Nov 1994 08:49:37 GMT". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plimsoll {

// Seconds since 1970, from year 0 to 9999; others are clamped.
std::string FormatHttpDate(std::int64_t seconds);
// Reads that form and no other (the obsolete ones are not sent by anybody); the weekday is not
// checked against the date.
std::optional<std::int64_t> ParseHttpDate(std::string_view text);

}  // namespace plimsoll
