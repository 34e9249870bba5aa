// Is a text JSON, within bounds? Looked at before a tree of it is built. nlohmann-json behind a
// fence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

struct JsonBounds {
  std::size_t bytes_max = std::size_t{256} << 10;
  std::uint32_t depth_max = 64;       // Objects and lists within each other.
  std::uint32_t values_max = 20'000;  // Values of all kinds, at all depths.
  bool unique_keys = false;           // A key that an object has twice is refused.
};

// InvalidArgument: not JSON (and where), or a key twice. ResourceExhausted: beyond a bound, which
// the message names.
Status CheckJson(std::string_view text, const JsonBounds& bounds = {});

}  // namespace plimsoll
