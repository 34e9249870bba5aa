#include "common/rpc/endpoint.h"

#include <charconv>
#include <optional>

#include <arpa/inet.h>

#include "fmt/format.h"

namespace plimsoll {
namespace {

std::optional<std::uint16_t> ReadPort(std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return port;
}

}  // namespace

StatusOr<Endpoint> ParseEndpoint(std::string_view text) {
  const auto refused = [text] {
    return absl::InvalidArgumentError(fmt::format(
        "address '{}': expected HOST:PORT, such as 127.0.0.1:7070 or [::1]:7070", text));
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return refused();
  const std::optional<std::uint16_t> port = ReadPort(text.substr(colon + 1));
  if (!port) return refused();
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    in6_addr address;
    if (inet_pton(AF_INET6, std::string(host).c_str(), &address) != 1) return refused();
  } else if (host.find_first_of(":[]/ \t\r\n") != std::string_view::npos) {
    return refused();
  }
  if (host.empty()) return refused();
  return Endpoint{.host = std::string(host), .port = *port};
}

std::string ToText(const Endpoint& endpoint) {
  const bool ipv6 = endpoint.host.find(':') != std::string::npos;
  return ipv6 ? fmt::format("[{}]:{}", endpoint.host, endpoint.port)
              : fmt::format("{}:{}", endpoint.host, endpoint.port);
}

bool IsLoopback(const Endpoint& endpoint) {
  if (endpoint.host == "localhost" || endpoint.host == "::1") return true;
  in_addr address;
  if (inet_pton(AF_INET, endpoint.host.c_str(), &address) != 1) return false;
  return (ntohl(address.s_addr) >> 24) == 127;
}

}  // namespace plimsoll
