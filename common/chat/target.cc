#include "common/chat/target.h"

#include <cstdlib>

#include <fmt/format.h>

namespace plimsoll {

StatusOr<HttpCallOptions> ReadTargetSecrets(const TargetPlan& target) {
  HttpCallOptions options;
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
