// Limits of the bar to their stored messages and back.
#pragma once

#include "common/base/status.h"
#include "coordinator/judge/bar.h"

namespace plimsoll {

namespace v1 {
class StoredLimit;
class StoredLimitOrigin;
class StoredRun;
}  // namespace v1

void WriteOrigin(const LimitOrigin& origin, v1::StoredLimitOrigin* out);
// DataLoss: a number that no origin has.
StatusOr<LimitOrigin> ReadOrigin(const v1::StoredLimitOrigin& in);

void WriteLimit(const Limit& limit, v1::StoredLimit* out);
// DataLoss: a metric or an origin that no limit has.
StatusOr<Limit> ReadLimit(const v1::StoredLimit& in);

// The bar of a run; empty where the run has none.
void WriteBar(const Bar& bar, v1::StoredRun* out);
StatusOr<Bar> ReadBar(const v1::StoredRun& in);

}  // namespace plimsoll
