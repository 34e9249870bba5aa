// The reader's checks: collects the first thing wrong with a message, in words that name the field.
// Internal to common/wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"
#include "common/base/time.h"
#include "common/wire/wire_limits.h"

namespace plimsoll::wire {

// Each method gives the value back as it will be used; after a refusal that is a harmless default,
// and the caller returns status().
class Checks {
 public:
  // `message` is the message's name as the refusal will show it; it outlives this object.
  explicit Checks(std::string_view message) : message_(message) {}

  // The first refusal: "message.field: want". OK: none.
  Status status() const;
  bool ok() const { return error_.empty(); }

  void Require(bool holds, std::string_view field, std::string_view want) {
    if (!holds) Refuse(field, want);
  }
  std::uint32_t Below(std::uint32_t value, std::uint32_t bound, std::string_view field);
  std::uint32_t Between(std::uint32_t value, std::uint32_t low, std::uint32_t high,
                        std::string_view field);
  // 0 to kSpanMax.
  Duration Span(std::int64_t ns, std::string_view field);
  // > 0, to kSpanMax.
  Duration PositiveSpan(std::int64_t ns, std::string_view field);
  // Within kSpanMax of 0, of either sign.
  std::int64_t Offset(std::int64_t ns, std::string_view field);
  // Within kInstantMaxNs of 0.
  std::int64_t Instant(std::int64_t ns, std::string_view field);
  // At most `bytes_max` long, without control characters that could end a header or a line.
  std::string Line(std::string_view text, std::size_t bytes_max, std::string_view field);
  // The same, and not empty.
  std::string Name(std::string_view text, std::string_view field);
  // Any text of at most kTextBytesMax.
  std::string Text(std::string_view text, std::string_view field);
  // 64 lower-case hexadecimal digits.
  std::string Digest(std::string_view text, std::string_view field);

 private:
  void Refuse(std::string_view field, std::string_view want);

  std::string_view message_;
  std::string error_;
};

// Valid UTF-8 of at most kTextBytesMax, as proto3 demands of a string: what is not is replaced by
// '?', what is too long is cut at a character. Texts quote what servers and files said.
std::string SafeText(std::string_view text);

// A block's number as it travels: 0 warm-up, 1 cool-down, n + 2 block n.
std::uint32_t BlockCode(std::uint32_t block);
// Its inverse; refuses blocks from limits::kBlocksMax.
std::uint32_t BlockOf(std::uint32_t code, std::string_view field, Checks* checks);

}  // namespace plimsoll::wire
