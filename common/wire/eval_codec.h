// What of evals travels: the plan's part, their records, their counts. Part of plan_codec,
// record_codec and tally_codec.
#pragma once

#include <vector>

#include "common/base/status.h"
#include "common/plan/plan.h"
#include "common/record/eval_record.h"

namespace plimsoll::v1 {
class EvalPlan;
class RecordBatch;
class StepTally;
}  // namespace plimsoll::v1

namespace plimsoll::wire {

void ToProto(const EvalPlan& plan, v1::EvalPlan* out);
// InvalidArgument names the field. The set's text is checked for its length alone: whoever plays
// the plan reads it.
StatusOr<EvalPlan> FromProto(const v1::EvalPlan& in);

void WriteEvals(const std::vector<EvalRecord>& evals, v1::RecordBatch* out);
StatusOr<std::vector<EvalRecord>> ReadEvals(const v1::RecordBatch& in);

void WriteEvalCounts(const EvalCounts& counts, v1::StepTally* out);
StatusOr<EvalCounts> ReadEvalCounts(const v1::StepTally& in);

}  // namespace plimsoll::wire
