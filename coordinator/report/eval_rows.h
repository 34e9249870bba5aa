// Evals and faults of tool calls as fields of exported lines. Part of export_rows.
#pragma once

#include <optional>
#include <string>

#include "common/record/eval_record.h"
#include "coordinator/judge/eval_summary.h"
#include "coordinator/report/export_line.h"
#include "coordinator/store/keys.h"

namespace plimsoll {

// Of a step: always the same fields; empty of one without evals.
void EvalFields(const std::optional<EvalSummary>& evals, Line& line);
// A field for each kind: answers of the load in which it came.
void ToolFaultFields(const FaultyAnswers& faults, Line& line);
// "empty_delta unknown_tool"; empty: none.
std::string FaultNames(ToolFaultBits faults);

// A whole line of one eval.
void AppendEvalLine(LineKind kind, const keys::BatchKey& batch, const EvalRecord& eval,
                    std::string* out);

}  // namespace plimsoll
