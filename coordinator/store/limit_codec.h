// Limits of the bar to their stored messages and back.
#pragma once

#include "common/base/status.h"
#include "coordinator/judge/bar.h"

namespace plimsoll {

namespace v1 {
class StoredLimitOrigin;
class StoredRun;
}  // namespace v1

void WriteOrigin(const LimitOrigin& origin, v1::StoredLimitOrigin* out);
// DataLoss: a number that no origin has.
StatusOr<LimitOrigin> ReadOrigin(const v1::StoredLimitOrigin& in);

// The bar of a run; empty where the run has none.
void WriteBar(const Bar& bar, v1::StoredRun* out);
StatusOr<Bar> ReadBar(const v1::StoredRun& in);

}  // namespace plimsoll
