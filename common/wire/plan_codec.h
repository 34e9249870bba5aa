// Plans as values <-> plimsoll.v1 messages (proto/plimsoll/v1/plan.proto). Writing never fails;
// reading checks every field against the range its comment states and refuses in words.
#pragma once

#include "common/base/status.h"
#include "common/plan/plan.h"

namespace plimsoll::v1 {
class LaneSpec;
class RunPlan;
class StepPlan;
}  // namespace plimsoll::v1

namespace plimsoll {

// Overwrites what `out` held.
void ToProto(const RunPlan& plan, v1::RunPlan* out);
void ToProto(const StepPlan& step, v1::StepPlan* out);
void ToProto(const LaneSpec& lane, v1::LaneSpec* out);

// InvalidArgument: "StepPlan.measure_ns: must be a whole number of blocks".
StatusOr<RunPlan> FromProto(const v1::RunPlan& in);
StatusOr<StepPlan> FromProto(const v1::StepPlan& in);
StatusOr<LaneSpec> FromProto(const v1::LaneSpec& in);

}  // namespace plimsoll
