// Hosts that this agent may send load to. Agents run plans of others, so the machine's owner says
// where they may point. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"

namespace plimsoll {

class AllowList {
 public:
  // Loopback is always allowed. "*" allows every host.
  explicit AllowList(std::vector<std::string> hosts) : hosts_(std::move(hosts)) {}

  // PermissionDenied in words that name the flag to add.
  Status Check(const std::string& url) const;

 private:
  std::vector<std::string> hosts_;
};

}  // namespace plimsoll
