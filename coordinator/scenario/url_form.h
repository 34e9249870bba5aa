// The form of texts in a scenario that only other programs understand: URLs, hosts and ports,
// paths, variables' names. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace plimsoll {

bool IsAlnum(char c);  // ASCII letters and digits.

// A decimal port; `zero` says whether 0 (any free one) is one.
bool IsPort(std::string_view text, bool zero);

struct HostPort {
  std::string_view host;  // Without the brackets of an IPv6 address.
  std::string_view port;  // Empty: none was given.
};

// "host", "host:port", "[::1]:port". Nothing if it is none of them.
std::optional<HostPort> SplitHostPort(std::string_view text);

// What is wrong with a URL to send requests to; empty if nothing. `query` says whether it may have
// one: that of a page may, that of a base of several may not.
std::string_view UrlFault(std::string_view url, bool query = false);

// Host and port of a URL without fault: "engine-0:8000".
std::string_view AuthorityOf(std::string_view url);

// `path` as to be opened: one that is not absolute is relative to `folder`, the scenario's.
std::string ResolvedPath(std::string_view folder, const std::string& path);

// Of an environment variable.
bool IsVariableName(std::string_view name);

}  // namespace plimsoll
