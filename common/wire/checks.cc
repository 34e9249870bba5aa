#include "common/wire/checks.h"

#include <algorithm>

#include "common/base/limits.h"
#include "common/base/text.h"
#include "common/record/call_record.h"
#include "fmt/format.h"

namespace plimsoll::wire {
Status Checks::status() const {
  return ok() ? absl::OkStatus() : absl::InvalidArgumentError(error_);
}

void Checks::Refuse(std::string_view field, std::string_view want) {
  if (error_.empty()) error_ = fmt::format("{}.{}: must be {}", message_, field, want);
}

std::uint32_t Checks::Below(std::uint32_t value, std::uint32_t bound, std::string_view field) {
  if (value < bound) return value;
  Refuse(field, fmt::format("below {}, is {}", bound, value));
  return 0;
}

std::uint32_t Checks::Between(std::uint32_t value, std::uint32_t low, std::uint32_t high,
                              std::string_view field) {
  if (value >= low && value <= high) return value;
  Refuse(field, fmt::format("{} to {}, is {}", low, high, value));
  return low;
}

Duration Checks::Span(std::int64_t ns, std::string_view field) {
  if (ns >= 0 && Duration(ns) <= kSpanMax) return Duration(ns);
  Refuse(field, fmt::format("0 to {} ns, is {}", Duration(kSpanMax).count(), ns));
  return Duration{};
}

Duration Checks::PositiveSpan(std::int64_t ns, std::string_view field) {
  if (ns > 0 && Duration(ns) <= kSpanMax) return Duration(ns);
  Refuse(field, fmt::format("1 to {} ns, is {}", Duration(kSpanMax).count(), ns));
  return Duration(1);
}

std::int64_t Checks::Offset(std::int64_t ns, std::string_view field) {
  const std::int64_t bound = Duration(kSpanMax).count();
  if (ns >= -bound && ns <= bound) return ns;
  Refuse(field, fmt::format("within {} ns of 0, is {}", bound, ns));
  return 0;
}

std::int64_t Checks::Instant(std::int64_t ns, std::string_view field) {
  if (ns >= -kInstantMaxNs && ns <= kInstantMaxNs) return ns;
  Refuse(field, fmt::format("within {} ns of 0, is {}", kInstantMaxNs, ns));
  return 0;
}

std::string Checks::Line(std::string_view text, std::size_t bytes_max, std::string_view field) {
  if (text.size() > bytes_max) {
    Refuse(field, fmt::format("at most {} bytes, has {}", bytes_max, text.size()));
    return {};
  }
  if (text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
    Refuse(field, "one line");
    return {};
  }
  return std::string(text);
}

std::string Checks::Name(std::string_view text, std::string_view field) {
  if (text.empty()) Refuse(field, "set");
  return Line(text, kNameBytesMax, field);
}

std::string Checks::Text(std::string_view text, std::string_view field) {
  if (text.size() <= kTextBytesMax) return std::string(text);
  Refuse(field, fmt::format("at most {} bytes, has {}", kTextBytesMax, text.size()));
  return {};
}

std::string Checks::Digest(std::string_view text, std::string_view field) {
  if (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
    return std::string(text);
  }
  Refuse(field, "64 lower-case hexadecimal digits");
  return {};
}

std::string SafeText(std::string_view text) {
  std::string safe;
  safe.reserve(std::min(text.size(), kTextBytesMax));
  while (!text.empty()) {
    const std::size_t length = Utf8CharacterBytes(text);
    const std::string_view piece = length == 0 ? std::string_view("?") : text.substr(0, length);
    if (safe.size() + piece.size() > kTextBytesMax) break;
    safe.append(piece);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return safe;
}

std::uint32_t BlockCode(std::uint32_t block) {
  return block + 2;  // kWarmUpBlock and kCoolDownBlock are the two values that wrap to 0 and 1.
}
static_assert(kWarmUpBlock + 2u == 0 && kCoolDownBlock + 2u == 1);

std::uint32_t BlockOf(std::uint32_t code, std::string_view field, Checks* checks) {
  checks->Below(code, limits::kBlocksMax + 2, field);
  return code - 2;
}

}  // namespace plimsoll::wire
