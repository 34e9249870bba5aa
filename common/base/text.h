// The little that we do to text ourselves. Pure.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll {

// ASCII letters in lower case: names of hosts and headers are compared so, whatever the locale.
std::string LowerAscii(std::string_view text);

// The text with every byte that is not part of well-formed UTF-8 replaced by U+FFFD: for readers
// that refuse a whole message over one such byte.
std::string ValidUtf8(std::string_view text);

}  // namespace plimsoll
