// A step's tally as a value <-> plimsoll.v1.StepTally (proto/plimsoll/v1/records.proto). Reading
// checks ranges; whether the counts add up is judged with the step, where it can be said.
#pragma once

#include "common/base/status.h"
#include "common/record/tally.h"

namespace plimsoll::v1 {
class StepTally;
}

namespace plimsoll {

// Overwrites what `out` held. A play that did not fail loses its failed_… fields.
void ToProto(const StepTally& tally, v1::StepTally* out);
// InvalidArgument in words.
StatusOr<StepTally> FromProto(const v1::StepTally& in);

}  // namespace plimsoll
