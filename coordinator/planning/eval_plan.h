// A scenario's evals as the agents' plan, the mini run's settings, and what `check` says of them
// before a window is spent. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/evals/eval_set.h"
#include "common/plan/plan.h"
#include "coordinator/planning/dry_plan.h"
#include "coordinator/planning/run_settings.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

// In flight of the mini run over the whole fleet: no load to speak of, as priming is none.
inline constexpr std::uint32_t kMiniRunAtOnce = 4;

EvalPlan MakeEvalPlan(const EvalsSpec& evals, std::string set_text);
MiniRunSettings MakeMiniRun(const EvalsSpec& evals, std::uint32_t agents);

// A line each: the set, the mini run, how many answers each step will get and how bad they must be
// to be seen. `scenario` has evals; `label` names the set.
std::vector<std::string> EvalLines(const Scenario& scenario, const EvalSet& set,
                                   const std::string& label, const DryPlan& dry);

}  // namespace plimsoll
