// JSON Schemas as people write them to the subset that is checked exactly: what could not be
// checked is refused in words instead of being passed over. nlohmann-json behind a fence.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

// Names under which the rewritten schema carries what valijson must not see: it would run
// std::regex on a server's text, divide by whatever the schema says, and compare each with each.
inline constexpr const char* kPatternKey = "x-pattern";
inline constexpr const char* kMultipleOfKey = "x-multiple-of";
inline constexpr const char* kUniqueItemsKey = "x-unique-items";

// Bounds of a schema with all its references put in place.
inline constexpr int kSchemaDepthMax = 32;
inline constexpr std::size_t kSchemaNodesMax = 2000;
inline constexpr std::size_t kSchemaBytesMax = std::size_t{64} << 10;

// The schema as JSON text: local references ("#/…") replaced by what they refer to, annotations
// (title, description, default, format, …) dropped, three keywords renamed as above. Draft 7, of
// which it knows: type, enum, const, properties, required, additionalProperties, propertyNames,
// min/maxProperties, items, additionalItems, contains, min/maxItems, uniqueItems, min/maxLength,
// pattern, minimum, maximum, exclusiveMinimum/Maximum, multipleOf, allOf, anyOf, oneOf, not, if,
// then, else, $ref, definitions, $defs. InvalidArgument, "at PLACE: what, what would be right".
StatusOr<std::string> RewriteSchema(std::string_view text);

}  // namespace plimsoll
