// Percentiles as shown, and the intervals of parts' values, to their stored messages and back.
#pragma once

#include "common/base/status.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

namespace v1 {
class StoredPart;
class StoredPercentile;
}  // namespace v1

void WritePercentile(const ShownPercentile& percentile, v1::StoredPercentile* out);
ShownPercentile ReadPercentile(const v1::StoredPercentile& in);

// The ends of part.value_low and part.value_high; an open one is left out.
void WriteValueInterval(const PartVerdict& part, v1::StoredPart* out);
// DataLoss: ends that no interval has (no number, both a number and infinite, or the wrong way
// round). Parts of versions without intervals have none.
Status ReadValueInterval(const v1::StoredPart& in, PartVerdict* part);

}  // namespace plimsoll
