// How a step came about, as a stored message: a part that run_codec puts into steps.
#pragma once

#include "common/base/status.h"
#include "coordinator/judge/step_origin.h"

namespace plimsoll {

namespace v1 {
class StoredOrigin;
}

void WriteOrigin(const StepOrigin& origin, v1::StoredOrigin* out);
// DataLoss for an unknown kind, a ladder without a name or a negative time.
StatusOr<StepOrigin> ReadOrigin(const v1::StoredOrigin& in);

}  // namespace plimsoll
