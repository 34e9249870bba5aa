// The little that we do to text ourselves. Pure.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll {

// ASCII letters in lower case: names of hosts and headers are compared so, whatever the locale.
std::string LowerAscii(std::string_view text);

}  // namespace plimsoll
