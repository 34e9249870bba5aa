// Why a coordinator was not reached, out of what gRPC says of it.
#pragma once

#include <string>
#include <string_view>

namespace plimsoll {

// "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:9: Failed to connect to
// remote host: Connection refused" is "Connection refused": the last reason of the chain. A text
// without a chain is kept as it is.
std::string DialFailure(std::string_view text);

}  // namespace plimsoll
