// A JSON Schema that tool arguments and answers are checked against. valijson and nlohmann-json
// behind a fence. Immutable; one may be used by several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

enum class SchemaFit : std::uint8_t {
  kFits,
  kNotJson,
  kTooLarge,       // JSON beyond the bounds of JsonBounds.
  kBlankRequired,  // Something required is missing, null or blank (only where that is asked for).
  kMismatch,
};

class JsonSchema {
 public:
  // Draft 7, the keywords of RewriteSchema. InvalidArgument says where it is wrong.
  static StatusOr<JsonSchema> Read(std::string_view text);
  ~JsonSchema();
  JsonSchema(JsonSchema&&) noexcept;
  JsonSchema& operator=(JsonSchema&&) noexcept;

  // Whether `value`, JSON as text, conforms. 3.0 is an integer, as in draft 7. A *why that is given
  // gets a line that says what does not fit; it quotes names of the schema, not the value.
  SchemaFit Check(std::string_view value, std::string* why = nullptr) const;
  // The same, and whether something that `required` names, at any depth that properties, items and
  // allOf reach, is missing, null, or text of white space alone. Not blank is what the schema
  // itself speaks of: the type null, an enum or const that holds the value, and for text a
  // minLength of 0 or a pattern.
  SchemaFit CheckArguments(std::string_view value, std::string* why = nullptr) const;

 private:
  struct Impl;
  explicit JsonSchema(std::unique_ptr<const Impl> impl);

  SchemaFit Check(std::string_view value, bool blanks, std::string* why) const;

  std::unique_ptr<const Impl> impl_;
};

}  // namespace plimsoll
