// target.extra_body: further fields of every request, YAML in the scenario, JSON in the request.
#pragma once

#include <string>

#include "common/config/field_reader.h"

namespace plimsoll {

// What it may come to as JSON: sampling parameters, not prompts. (The wire's bound is the same.)
inline constexpr std::size_t kExtraBodyBytesMax = 16'384;

// The map at `key` of `target` as JSON text without the object's braces; empty if it is absent or
// empty. Plain scalars that JSON knows (numbers, true, false, null) are themselves, all others
// texts. Fields that the client sets itself are problems.
std::string ReadExtraBody(FieldReader& target, std::string_view key);

}  // namespace plimsoll
