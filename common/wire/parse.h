// Bytes to a generated message. Internal to common/wire.
#pragma once

#include <climits>
#include <string_view>

namespace plimsoll::wire {

// False if `bytes` are not a message of this type, or more than protobuf can address.
template <typename Proto>
bool Parse(std::string_view bytes, Proto* out) {
  return bytes.size() <= INT_MAX &&
         out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace plimsoll::wire
