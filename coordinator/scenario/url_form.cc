#include "coordinator/scenario/url_form.h"

#include <algorithm>
#include <charconv>

#include "fmt/format.h"

namespace plimsoll {

bool IsAlnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsPort(std::string_view text, bool zero) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port <= 65'535 &&
         (port > 0 || zero);
}

std::optional<HostPort> SplitHostPort(std::string_view text) {
  HostPort result;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    result.host = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    for (const char c : result.host) {
      if (!IsAlnum(c) && c != ':' && c != '.') return std::nullopt;
    }
  } else {
    result.host = text.substr(0, text.find(':'));
    text.remove_prefix(result.host.size());
    for (const char c : result.host) {
      if (!IsAlnum(c) && c != '.' && c != '-' && c != '_') return std::nullopt;
    }
  }
  if (result.host.empty()) return std::nullopt;
  if (text.empty()) return result;
  if (text.front() != ':' || text.size() == 1) return std::nullopt;
  result.port = text.substr(1);
  return result;
}

std::string_view UrlFault(std::string_view url, bool query) {
  std::string_view rest = url;
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else {
    return "is not an http or https URL";
  }
  for (const char c : rest) {
    if (c <= ' ' || c == 0x7f || c == '"' || c == '\\') {
      return "holds a blank, a quote or another byte that no URL has";
    }
  }
  if (!query && rest.find_first_of("?#") != std::string_view::npos) {
    return "has a query or a fragment, give the base only";
  }
  if (rest.find('#') != std::string_view::npos) return "has a fragment, which no server sees";
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos) {
    return query ? "has credentials in it, name a variable in bearer_env instead"
                 : "has credentials in it, name a variable in auth.bearer_env instead";
  }
  const std::optional<HostPort> host = SplitHostPort(authority);
  if (!host.has_value()) return "has no valid host";
  if (!host->port.empty() && !IsPort(host->port, false)) return "has no valid port";
  return {};
}

std::string_view AuthorityOf(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

std::string ResolvedPath(std::string_view folder, const std::string& path) {
  if (folder.empty() || path.starts_with('/')) return path;
  return folder.ends_with('/') ? fmt::format("{}{}", folder, path)
                               : fmt::format("{}/{}", folder, path);
}

bool IsVariableName(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return IsAlnum(c) || c == '_'; });
}

}  // namespace plimsoll
