// A scenario with everything that it names, read and ready to plan: effects at the edge of check
// and run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/corpus/session.h"
#include "common/evals/eval_set.h"
#include "coordinator/planning/planner.h"
#include "coordinator/scenario/scenario.h"
#include "coordinator/scrape/scraper.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

struct LoadedScenario {
  Scenario scenario;
  std::string text;                      // As read.
  std::shared_ptr<const Corpus> corpus;  // Shared with the run and its preflight.
  std::string corpus_bytes;
  std::string corpus_digest;
  std::string corpus_label;              // "agentx.corpus, 100 sessions".
  std::shared_ptr<const EvalSet> evals;  // Null: the scenario has none.
  std::string evals_text;
  std::string evals_label;  // "basic", or the file's name.
  KeptRecipe recipe;
  std::optional<ScrapePlan> scrape;          // Of scenario.signals, without tokens.
  std::vector<std::string> baseline_doubts;  // Warnings of the runs that the bar came from.
};

// InvalidArgument with every problem, a line each; or what is wrong with the corpus, the recipe
// files or the mapping files that it names.
StatusOr<LoadedScenario> LoadScenario(const std::string& path);

// "evals: mine.jsonl, 72 cases (SHA-256 …), 10% of all requests": which set a run asks, for its
// log. `loaded` has evals.
std::string EvalsSaid(const LoadedScenario& loaded);

// "20261130-024559-recipe-7": sorts by time, names the scenario, is a valid run id.
std::string MakeRunId(WallTime now, const std::string& name);

}  // namespace plimsoll
