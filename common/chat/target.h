// What of a target never travels: its secrets, read from this process's environment by name, and
// the files that must be on each machine.
#pragma once

#include "common/base/status.h"
#include "common/chat/http_call_transport.h"
#include "common/plan/plan.h"

namespace plimsoll {

// NotFound, naming it, if the target names a variable that is not set here, or a CA file that
// cannot be read here.
StatusOr<HttpCallOptions> ReadTargetSecrets(const TargetPlan& target);

}  // namespace plimsoll
