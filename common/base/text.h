// The little that we do to text ourselves. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/time.h"

namespace plimsoll {

// ASCII letters in lower case: names of hosts and headers are compared so, whatever the locale.
std::string LowerAscii(std::string_view text);

// Bytes of the well-formed UTF-8 character at the start of `text`, which is not empty; 0: there is
// none. No overlong forms, no surrogates, nothing beyond U+10FFFF (Unicode 15, table 3-7).
std::size_t Utf8CharacterBytes(std::string_view text);

// Three significant digits without an exponent: 0.0123, 4.81, 412, 1234.
std::string ThreeDigits(double value);

// What people read of foreign bytes (names, reasons, answers), whatever is in them: one line of
// valid UTF-8 that steers no terminal, at most `bytes_max` bytes of `text` and "…" where it was
// cut. Control characters (C0, DEL, C1: terminals obey those too), line and paragraph separators
// and bytes that are no UTF-8 become \n, \r, \t, \xNN. Such a text stays as it is when shown again.
std::string Printable(std::string_view text, std::size_t bytes_max = std::string_view::npos);

// The text with every byte that is not part of well-formed UTF-8 replaced by U+FFFD: for readers
// that refuse a whole message over one such byte.
std::string ValidUtf8(std::string_view text);

// A duration for people, rounded down to what they read at a glance: "0s", "48s", "2m13s", "5m",
// "1h02m", "6d07h"; under ten seconds with a decimal where there is one, "2.5s". Negative ones are
// "0s".
std::string ShortTime(Duration duration);

}  // namespace plimsoll
