#include "common/base/text.h"

#include <cstddef>

namespace plimsoll {
namespace {

unsigned char At(std::string_view text, std::size_t index) {
  return index < text.size() ? static_cast<unsigned char>(text[index]) : 0;
}

bool Within(unsigned char byte, unsigned char low, unsigned char high) {
  return byte >= low && byte <= high;
}

// Length of the well-formed sequence at the start of `text` (Unicode 15, table 3-7); 0: none.
std::size_t Utf8SequenceLength(std::string_view text) {
  const unsigned char lead = At(text, 0);
  if (lead < 0x80) return 1;
  const auto more = [text](std::size_t from, std::size_t end) {
    for (; from < end; ++from) {
      if (!Within(At(text, from), 0x80, 0xBF)) return false;
    }
    return true;
  };
  if (Within(lead, 0xC2, 0xDF)) return more(1, 2) ? 2 : 0;
  // The second byte tells overlong forms, surrogates and what lies beyond U+10FFFF.
  const unsigned char second = At(text, 1);
  if (Within(lead, 0xE0, 0xEF)) {
    const bool fits =
        Within(second, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && more(2, 3);
    return fits ? 3 : 0;
  }
  if (Within(lead, 0xF0, 0xF4)) {
    const bool fits =
        Within(second, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && more(2, 4);
    return fits ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = Utf8SequenceLength(text);
    valid += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace plimsoll
