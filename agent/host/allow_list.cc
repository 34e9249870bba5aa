#include "agent/host/allow_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/base/url.h"

namespace plimsoll {
namespace {

// An address of 127/8 in numbers: "127.example.org" is a name that anybody may own.
bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

}  // namespace

Status AllowList::Check(const std::string& url) const {
  const std::string host = HostOfUrl(url);
  if (host.empty()) {
    return absl::InvalidArgumentError(fmt::format("the target '{}' names no host", url));
  }
  if (IsLoopback(host)) return absl::OkStatus();
  const bool listed = std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& allowed) {
    return allowed == "*" || LowerAscii(allowed) == host;
  });
  if (listed) return absl::OkStatus();
  return absl::PermissionDeniedError(
      fmt::format("this agent may not send load to {}: start it with --allow {}", host, host));
}

}  // namespace plimsoll
