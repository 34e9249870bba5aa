// PartVerdict ↔ plimsoll.v1.StoredPart. Part of run_codec.
#pragma once

#include "common/base/status.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

namespace v1 {
class StoredPart;
}

void Write(const PartVerdict& part, v1::StoredPart& out);
// DataLoss: a metric, a verdict, a lean, an origin or an interval that no part has.
StatusOr<PartVerdict> Read(const v1::StoredPart& in);

}  // namespace plimsoll
