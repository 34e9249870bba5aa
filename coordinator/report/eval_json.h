// Evals and faults of tool calls as JSON text. Part of json_report.
#pragma once

#include <optional>
#include <string>

#include "coordinator/judge/bar.h"
#include "coordinator/judge/eval_summary.h"

namespace plimsoll {

// "null" of a step that asked none.
std::string EvalsJson(const std::optional<EvalSummary>& evals);
// "null" of a bar that asks nothing.
std::string EvalBarJson(const EvalBar& bar);
// An object of all kinds, by name.
std::string FaultsJson(const FaultyAnswers& faults);

}  // namespace plimsoll
