#include "agent/host/allow_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/url.h"

namespace plimsoll {

Status AllowList::Check(const std::string& url) const {
  const std::string host = HostOfUrl(url);
  if (host.empty()) {
    return absl::InvalidArgumentError(fmt::format("the target '{}' names no host", url));
  }
  if (host == "localhost" || host == "::1" || host.starts_with("127.")) return absl::OkStatus();
  const bool listed = std::any_of(hosts_.begin(), hosts_.end(), [&](const std::string& allowed) {
    return allowed == "*" || allowed == host;
  });
  if (listed) return absl::OkStatus();
  return absl::PermissionDeniedError(
      fmt::format("this agent may not send load to {}: start it with --allow {}", host, host));
}

}  // namespace plimsoll
