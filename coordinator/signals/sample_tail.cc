#include "coordinator/signals/sample_tail.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "coordinator/signals/page.h"
#include "coordinator/signals/series_text.h"

namespace plimsoll {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kExactDigits = 15;  // A whole number of so many digits is below 2^53.

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool IsHexLetter(char c) {
  return (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// NaN or an infinity without its sign; nothing else is taken.
bool ParseWord(std::string_view text, double& value) {
  if (EqualsIgnoringCase(text, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
    return true;
  }
  if (EqualsIgnoringCase(text, "inf") || EqualsIgnoringCase(text, "infinity")) {
    value = kInfinity;
    return true;
  }
  return false;
}

// Without sign, beginning with a digit or a point.
const char* ParseUnsigned(std::string_view text, double& value) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const std::string_view digits = hex ? text.substr(2) : text;
  // from_chars knows words as well, such as "nan(1)".
  const bool begins = !digits.empty() &&
                      (IsDigit(digits[0]) || digits[0] == '.' || (hex && IsHexLetter(digits[0])));
  if (!begins) return "is no number";
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(
      digits.data(), last, value, hex ? std::chars_format::hex : std::chars_format::general);
  if (error == std::errc::invalid_argument || end != last) return "is no number";
  if (error == std::errc::result_out_of_range) {
    // Too large and too small look the same to from_chars.
    value = std::strtod(std::string(text).c_str(), nullptr);
    if (std::isinf(value)) return "is too large";
  }
  return nullptr;
}

// Seconds, as OpenMetrics writes them, to the nearest millisecond.
const char* ParseSeconds(std::string_view text, std::int64_t& ms) {
  double seconds = 0;
  if (ParseSampleValue(text, seconds) != nullptr || !(std::abs(seconds) < 1e12)) {
    return "has a timestamp that is no number of seconds";
  }
  ms = std::llround(seconds * 1000);
  return nullptr;
}

const char* ParseMillis(std::string_view text, std::int64_t& ms) {
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, ms);
  if (error != std::errc() || end != last || ms == kNoTimestamp) {
    return "has a timestamp that is no whole number of milliseconds";
  }
  return nullptr;
}

constexpr bool IsBlank(char c) {
  return c == ' ' || c == '\t';
}

// Takes the blanks between two fields from the front of `text`. False: they are not this syntax's.
bool TakeBlanks(std::string_view& text, PageSyntax syntax) {
  std::size_t blanks = 0;
  while (blanks < text.size() && IsBlank(text[blanks])) ++blanks;
  if (syntax == PageSyntax::kOpenMetrics && (blanks != 1 || text[0] != ' ')) return false;
  text.remove_prefix(blanks);
  return true;
}

std::string_view TakeField(std::string_view& text) {
  std::size_t size = 0;
  while (size < text.size() && !IsBlank(text[size])) ++size;
  const std::string_view field = text.substr(0, size);
  text.remove_prefix(size);
  return field;
}

// Behind "# ": {labels} value [timestamp].
const char* CheckExemplar(std::string_view text) {
  if (text.empty() || text[0] != '{') return "has an exemplar without {labels}";
  const SeriesScan scan = ScanSeries(text, PageSyntax::kOpenMetrics, kExemplarLabelsMax, nullptr);
  if (scan.wrong != nullptr) return "has an exemplar whose labels are damaged";
  text.remove_prefix(scan.size);
  double value = 0;
  if (!TakeBlanks(text, PageSyntax::kOpenMetrics) ||
      ParseSampleValue(TakeField(text), value) != nullptr) {
    return "has an exemplar without a value";
  }
  if (text.empty()) return nullptr;
  std::int64_t ms = 0;
  if (!TakeBlanks(text, PageSyntax::kOpenMetrics)) return "has an exemplar with odd blanks";
  return ParseSeconds(text, ms);
}

}  // namespace

const char* ParseSampleValue(std::string_view text, double& value) {
  // "123", "123.0": what most of a page is.
  std::uint64_t whole = 0;
  std::size_t at = 0;
  while (at < text.size() && IsDigit(text[at])) {
    if (at == kExactDigits) break;
    whole = whole * 10 + static_cast<std::uint64_t>(text[at] - '0');
    ++at;
  }
  if (at > 0 && (at == text.size() || text.substr(at) == ".0")) {
    value = static_cast<double>(whole);
    return nullptr;
  }
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return "is missing";
  if (!ParseWord(text, value)) {
    if (const char* wrong = ParseUnsigned(text, value)) return wrong;
  }
  if (negative) value = -value;
  return nullptr;
}

const char* ParseSampleTail(std::string_view text, PageSyntax syntax, SampleTail& tail) {
  tail.timestamp_ms = kNoTimestamp;
  if (syntax == PageSyntax::kText) {
    // A page may print more blanks than it did when its layout was learned.
    while (!text.empty() && IsBlank(text[0])) text.remove_prefix(1);
    while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  }
  const std::string_view value = TakeField(text);
  if (const char* wrong = ParseSampleValue(value, tail.value)) return wrong;
  if (text.empty()) return nullptr;
  if (!TakeBlanks(text, syntax)) return "has blanks that OpenMetrics does not allow";
  if (syntax == PageSyntax::kOpenMetrics) {
    if (!text.starts_with('#')) {
      if (const char* wrong = ParseSeconds(TakeField(text), tail.timestamp_ms)) return wrong;
      if (text.empty()) return nullptr;
      if (!TakeBlanks(text, syntax)) return "has blanks that OpenMetrics does not allow";
    }
    if (!text.starts_with("# ")) return "has something behind its timestamp";
    return CheckExemplar(text.substr(2));
  }
  if (text[0] == '#') return "has an exemplar, which Prometheus text 0.0.4 does not know";
  const std::string_view stamp = TakeField(text);
  if (!text.empty()) return "has something behind its timestamp";
  return ParseMillis(stamp, tail.timestamp_ms);
}

}  // namespace plimsoll
