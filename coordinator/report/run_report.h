// From a run, finished or stored, to what is printed of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coordinator/report/report_model.h"
#include "coordinator/scenario/scenario.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

// The report of a run from what the store keeps: `plimsoll run` and `plimsoll runs show` print the
// same.
ReportModel ModelOf(const RunInfo& info, const Scenario& scenario, const KeptRecipe& recipe,
                    std::vector<StepRow> steps, std::string corpus_label);

// The scenario's price; absent: it names none.
std::optional<CostSettings> CostOf(const Scenario& scenario);

// The report for a terminal, or what is to be said of a run without a step.
std::string EndText(const RunInfo& info, const ReportModel& model);

// One line for a step as it closes: sessions, verdict, and what decided it.
std::string StepLine(const StepSummary& step);

// "2026-11-30 02:45:59 UTC".
std::string WallText(WallTime at);

}  // namespace plimsoll
