// The version of this build: an agent of another one is refused in words.
#pragma once

namespace plimsoll {

inline constexpr char kVersion[] = PLIMSOLL_VERSION;

}  // namespace plimsoll
