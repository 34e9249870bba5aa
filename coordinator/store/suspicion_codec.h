// Suspicions of a step as stored messages. Part of run_codec.
#pragma once

#include <vector>

#include "common/base/status.h"
#include "coordinator/judge/suspicion.h"

namespace plimsoll {

namespace v1 {
class StoredStep;
}

void WriteSuspicions(const std::vector<Suspicion>& suspicions, v1::StoredStep* out);
// DataLoss for a check that this version does not know.
StatusOr<std::vector<Suspicion>> ReadSuspicions(const v1::StoredStep& in);

}  // namespace plimsoll
