// Planner: a scenario and its corpus become the plan of a run. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/plan/plan.h"
#include "coordinator/planning/run_settings.h"
#include "coordinator/scenario/scenario.h"

namespace plimsoll {

struct RunIdentity {
  std::string run_id;
  std::uint64_t nonce = 0;  // Salts this run's prompts.
  std::string corpus_digest;
  std::string eval_set = {};  // The text that the scenario's evals name.
};

// The plan that agents get. InvalidArgument if a tier of the mix has no session in the corpus,
// or its context limit leaves none.
StatusOr<RunPlan> MakeRunPlan(const Scenario& scenario, const Corpus& corpus,
                              const RunIdentity& identity);

// The sweep as the run machine drives it. `promote`: a promotion is asked for.
RunSettings MakeRunSettings(const Scenario& scenario, bool promote = false);

// The longest prompt with which a lane of the first step starts: preflight tries this one, so that
// a context limit below the corpus's first prompts is found before the window is spent.
struct FirstPrompt {
  std::uint32_t session = 0;
  std::uint32_t call = 0;
};
FirstPrompt LongestFirstPrompt(const RunPlan& plan, const Corpus& corpus, std::uint32_t sessions);

}  // namespace plimsoll
