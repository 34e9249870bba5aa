#include "common/chat/target.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <unistd.h>

namespace plimsoll {

StatusOr<HttpCallOptions> ReadTargetSecrets(const TargetPlan& target) {
  HttpCallOptions options;
  // Found now: of a certificate that cannot be checked for want of it, every call would fail.
  if (!target.ca_file.empty() && ::access(target.ca_file.c_str(), R_OK) != 0) {
    return absl::NotFoundError(
        fmt::format("target.ca_file {}: cannot be read: {}; check the path on this machine",
                    target.ca_file, std::strerror(errno)));
  }
  if (target.bearer_env.empty()) return options;
  const char* token = std::getenv(target.bearer_env.c_str());
  if (token == nullptr || *token == '\0') {
    return absl::NotFoundError(
        fmt::format("the target's token is not here: set {} in the environment of this process",
                    target.bearer_env));
  }
  options.bearer_token = token;
  return options;
}

}  // namespace plimsoll
