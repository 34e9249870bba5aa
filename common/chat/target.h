// What of a target never travels: its secrets, read from this process's environment by name.
#pragma once

#include "common/base/status.h"
#include "common/chat/http_call_transport.h"
#include "common/plan/plan.h"

namespace plimsoll {

// NotFound, naming the variable, if the target names one that is not set here.
StatusOr<HttpCallOptions> ReadTargetSecrets(const TargetPlan& target);

}  // namespace plimsoll
