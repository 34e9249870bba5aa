// The little that we do to text ourselves. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/time.h"

namespace plimsoll {

// ASCII letters in lower case: names of hosts and headers are compared so, whatever the locale.
std::string LowerAscii(std::string_view text);

// A duration for people, rounded down to what they read at a glance: "0s", "48s", "2m13s", "5m",
// "1h02m"; under ten seconds with a decimal where there is one, "2.5s". Negative ones are "0s".
std::string ShortTime(Duration duration);

}  // namespace plimsoll
