// JSON of a recording with the place of every value, so that each error says where in the file it
// is: "requests[12].in: expected a whole number, got a string". simdjson behind a fence: values are
// handles into their document. Internal to the readers of common/corpus.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/status.h"

namespace plimsoll {

// Times of a recording, in ms after its start, end here: 49 days.
inline constexpr std::int64_t kTraceMsMax = 0xffff'ffff;

class JsonValue {
 public:
  JsonValue() = default;

  // "a list", "a string", … for messages.
  const char* kind() const;
  bool IsObject() const;
  bool IsList() const;
  bool IsText() const;
  bool IsNull() const;
  // Where it stands in its document: "requests[12].in"; "" for the document itself.
  const std::string& where() const { return where_; }

  // Whether this is an object that has `key`, and not as null.
  bool Has(std::string_view key) const;
  // The field `key` of this object. InvalidArgument: "WHERE.KEY: missing".
  StatusOr<JsonValue> Field(std::string_view key) const;
  // Elements of this list. InvalidArgument: "WHERE: expected a list, got …".
  StatusOr<std::vector<JsonValue>> Elements() const;
  // This whole number. InvalidArgument for others, negative ones and those above `max`.
  StatusOr<std::uint64_t> Count(std::uint64_t max) const;
  // This number of `unit_ms` milliseconds each, rounded to one, 0 to kTraceMsMax.
  StatusOr<std::int64_t> Millis(double unit_ms) const;
  // This string, which lives as long as the document.
  StatusOr<std::string_view> Text() const;
  // This list of 32-bit ids.
  StatusOr<std::vector<std::uint32_t>> Ids() const;
  // Its text, without white space.
  std::string Minified() const;

  // The same of the field `key`; a Name is a string of at most 256 bytes.
  StatusOr<std::uint64_t> Count(std::string_view key, std::uint64_t max) const;
  StatusOr<std::int64_t> Millis(std::string_view key, double unit_ms) const;
  StatusOr<std::string_view> Name(std::string_view key) const;
  StatusOr<std::vector<JsonValue>> Elements(std::string_view key) const;

  // InvalidArgument: "WHERE: WHAT".
  Status Wrong(std::string_view what) const;
  Status Expected(std::string_view what) const;

 private:
  friend class JsonDocument;
  struct Access;  // The library's side, in the source file.

  alignas(void*) std::array<std::byte, 2 * sizeof(void*)> raw_{};
  std::string where_;
};

class JsonDocument {
 public:
  // InvalidArgument if `text` is not one whole JSON document.
  static StatusOr<JsonDocument> Parse(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;

  const JsonValue& root() const { return root_; }

 private:
  struct Parser;
  explicit JsonDocument(std::unique_ptr<Parser> parser);

  std::unique_ptr<Parser> parser_;
  JsonValue root_;
};

// The line, from 1, on which the value at the place that begins `message` ("requests[3].in: …")
// starts in `text`; 1 if there is no such place. For messages: it reads the text once more.
std::size_t LineOfPlace(std::string_view text, std::string_view message);

}  // namespace plimsoll
