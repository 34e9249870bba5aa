#include "common/base/text.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace plimsoll {
namespace {

// Of one well-formed character.
bool SteersTerminals(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  const auto second = static_cast<unsigned char>(character[1]);
  if (character.size() == 2) return first == 0xC2 && second < 0xA0;  // U+0080 … U+009F.
  return character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9";
}

std::string Escaped(char byte) {
  if (byte == '\n') return "\\n";
  if (byte == '\r') return "\\r";
  if (byte == '\t') return "\\t";
  return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

}  // namespace

std::size_t Utf8CharacterBytes(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = at(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return size;
}

std::string ThreeDigits(double value) {
  return value >= 999.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string Printable(std::string_view text, std::size_t bytes_max) {
  std::string line;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t known = Utf8CharacterBytes(text.substr(at));
    const std::string_view character = text.substr(at, std::max<std::size_t>(1, known));
    if (character.size() > bytes_max - at) break;
    if (known > 0 && !SteersTerminals(character)) {
      line += character;
    } else {
      for (const char byte : character) line += Escaped(byte);
    }
    at += character.size();
  }
  if (at < text.size()) line += "…";
  return line;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = Utf8CharacterBytes(text);
    valid += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

std::string ShortTime(Duration duration) {
  const std::int64_t tenths = std::max<std::int64_t>(0, duration / 100ms);
  const std::int64_t seconds = tenths / 10;
  if (seconds < 10 && tenths % 10 > 0) return fmt::format("{}.{}s", seconds, tenths % 10);
  if (seconds < 60) return fmt::format("{}s", seconds);
  const std::int64_t hours = seconds / 3600;
  if (hours >= 24) return fmt::format("{}d{:02}h", hours / 24, hours % 24);
  if (hours > 0) return fmt::format("{}h{:02}m", hours, seconds / 60 % 60);
  if (seconds % 60 == 0) return fmt::format("{}m", seconds / 60);
  return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
}

}  // namespace plimsoll
