#include "common/evals/last_number.h"

#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>

namespace plimsoll {
namespace {

constexpr std::string_view kMinusSign = "\xE2\x88\x92";

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool IsWord(char c) {
  return IsDigit(c) || IsLetter(c);
}

std::size_t DigitsAt(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && IsDigit(text[at + count])) ++count;
  return count;
}

// A minus ends before `at`, and nothing that it could belong to instead.
bool Negated(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  std::size_t sign = 0;
  if (before.ends_with('-')) sign = 1;
  if (before.ends_with(kMinusSign)) sign = kMinusSign.size();
  return sign > 0 && (sign == at || !IsWord(before[at - sign - 1]));
}

// The number whose digits begin at `*at`, without commas; *at moves behind it.
std::string TakeNumber(std::string_view text, std::size_t* at) {
  const std::size_t first = DigitsAt(text, *at);
  std::string digits(text.substr(*at, first));
  *at += first;
  while (first <= 3 && *at < text.size() && text[*at] == ',' && DigitsAt(text, *at + 1) == 3) {
    digits.append(text.substr(*at + 1, 3));
    *at += 4;
  }
  if (*at + 1 < text.size() && text[*at] == '.' && IsDigit(text[*at + 1])) {
    const std::size_t fraction = DigitsAt(text, *at + 1);
    digits.append(text.substr(*at, fraction + 1));
    *at += fraction + 1;
  }
  return digits;
}

}  // namespace

std::optional<double> LastNumber(std::string_view text) {
  std::optional<double> last;
  for (std::size_t at = 0; at < text.size();) {
    if (IsLetter(text[at])) {
      // A word, with whatever digits and points are in it.
      while (at < text.size() && (IsWord(text[at]) || (text[at] == '.' && at + 1 < text.size() &&
                                                       IsDigit(text[at + 1])))) {
        ++at;
      }
      continue;
    }
    if (!IsDigit(text[at])) {
      ++at;
      continue;
    }
    const bool negative = Negated(text, at);
    const std::string digits = TakeNumber(text, &at);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    last = error == std::errc{} ? std::optional(negative ? -value : value) : std::nullopt;
    // A unit is no word that holds digits of its own: "5km2" is 5.
    while (at < text.size() && IsWord(text[at])) ++at;
  }
  return last;
}

}  // namespace plimsoll
