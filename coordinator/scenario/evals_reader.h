// The section `evals` of a scenario, and what the bar asks of them. Part of scenario_reader and
// bar_reader.
#pragma once

#include <optional>
#include <string_view>

#include "common/config/document.h"
#include "common/config/field_reader.h"
#include "common/config/problems.h"
#include "coordinator/judge/bar.h"
#include "coordinator/scenario/evals_spec.h"

namespace plimsoll {

// Absent: the scenario has no such section. A file's path is relative to `folder`.
void ReadEvals(FieldReader& top, std::string_view folder, std::optional<EvalsSpec>& evals);

// The key `evals` of the bar: 90%, or {pass_rate: 90%, drop: 5%}.
void ReadEvalBar(FieldReader& bar, EvalBar& evals);

// Whether both go together.
void CheckEvals(const std::optional<EvalsSpec>& evals, const EvalBar& bar,
                const ConfigNode& document, Problems& problems);

}  // namespace plimsoll
