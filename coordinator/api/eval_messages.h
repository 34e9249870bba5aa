// Evals and faults of tool calls to the messages of proto/plimsoll/v1/api.proto. Pure.
#pragma once

#include "coordinator/judge/bar.h"
#include "coordinator/judge/eval_summary.h"

namespace plimsoll::v1 {
class EvalBar;
class Evals;
class Fidelity;
}  // namespace plimsoll::v1

namespace plimsoll {

// Texts are mended to UTF-8; what is no number is left out.
void FillEvals(const EvalSummary& evals, v1::Evals* out);
void FillEvalBar(const EvalBar& bar, v1::EvalBar* out);
void FillFaults(const FaultyAnswers& faults, v1::Fidelity* out);

}  // namespace plimsoll
