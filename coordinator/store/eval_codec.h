// Evals of a step, and what the bar asks of them, as stored messages. Part of run_codec.
#pragma once

#include <optional>

#include "common/base/status.h"
#include "coordinator/judge/eval_summary.h"

namespace plimsoll {

namespace v1 {
class StoredEvals;
class StoredFidelity;
class StoredRun;
}  // namespace v1

void WriteEvals(const EvalSummary& evals, v1::StoredEvals* out);
// DataLoss: a verdict or outcome that this version does not know, or an interval that is none.
StatusOr<EvalSummary> ReadEvals(const v1::StoredEvals& in);

// Nothing is written of a bar that asks nothing.
void WriteEvalBar(const EvalBar& bar, v1::StoredRun* out);
// DataLoss: what is no share.
StatusOr<EvalBar> ReadEvalBar(const v1::StoredRun& in);

void WriteFaults(const FaultyAnswers& faults, v1::StoredFidelity* out);
// DataLoss: more kinds than this version knows.
StatusOr<FaultyAnswers> ReadFaults(const v1::StoredFidelity& in);

}  // namespace plimsoll
