// A capacity to its stored message and back.
#pragma once

#include "common/base/status.h"
#include "coordinator/judge/capacity_value.h"

namespace plimsoll {

namespace v1 {
class StoredCapacity;
}  // namespace v1

void WriteCapacity(const Capacity& capacity, v1::StoredCapacity* out);
// DataLoss: an end that is no number of sessions, ends out of order, or a part that is not there.
// What earlier versions did not write stays absent.
StatusOr<Capacity> ReadCapacity(const v1::StoredCapacity& in);

}  // namespace plimsoll
