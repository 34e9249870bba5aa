// The number that a text ends on: how an answer in words gives a figure. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace plimsoll {

// The last number in `text`: "So it is **1,234.50** euros." gives 1234.5. Commas count between
// groups of three digits; a point counts before a digit. "-" and "−" (U+2212) negate where no
// letter or digit stands before them. Digits within a word (the 2 of "x2", of "v1.2") are no
// number; a unit may follow ("42km"). Absent: there is none, or it is beyond any double.
std::optional<double> LastNumber(std::string_view text);

}  // namespace plimsoll
