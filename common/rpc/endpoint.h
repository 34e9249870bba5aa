// Addresses of coordinators as people write them: "host:port", "[::1]:port".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/status.h"

namespace plimsoll {

struct Endpoint {
  std::string host;  // A name or an IP address, without brackets.
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// InvalidArgument, naming the text and what would be right. Port 0 is read: "any free one".
StatusOr<Endpoint> ParseEndpoint(std::string_view text);
// "host:port", an IPv6 address in brackets.
std::string ToText(const Endpoint& endpoint);
// True for 127.0.0.0/8, ::1 and the name "localhost", and for nothing else: other names are not
// looked up.
bool IsLoopback(const Endpoint& endpoint);

}  // namespace plimsoll
