// Everything that a report of a run says, as values. Reports are pure functions of it, so that the
// terminal, the JSON file and `runs show` cannot disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/hooks/hook_outcome.h"
#include "coordinator/judge/bar.h"
#include "coordinator/judge/bracket.h"
#include "coordinator/judge/capacity.h"
#include "coordinator/judge/cost.h"
#include "coordinator/judge/preflight_summary.h"
#include "coordinator/judge/step_summary.h"
#include "coordinator/judge/sweep_policy.h"

namespace plimsoll {

struct ReportedStep {
  StepSummary summary;
  std::vector<std::string> notes;  // "repeated: agent-1 was lost", …
};

// What a ladder on one tier alone came to.
struct LadderResult {
  std::string tier;
  Bracket bracket;  // From the last step that passed to the first that failed.
  friend bool operator==(const LadderResult&, const LadderResult&) = default;
};

// A file of the recipe that is kept with the run.
struct ReportedRecipeFile {
  std::string path;
  std::string digest;       // SHA-256, hex.
  std::uint64_t bytes = 0;  // As kept.
  std::uint32_t secrets_left_out = 0;
};

struct ReportModel {
  std::string run_name;  // Of the scenario.
  std::string run_id;
  std::optional<int> exit_code;  // Of `plimsoll run`; absent: it has not ended.
  std::string started_at;        // Wall time as text; empty: not shown.
  std::string target_url;
  std::string model;
  std::string corpus;                   // "agentx.corpus, 100 sessions"; empty: not shown.
  std::optional<std::uint32_t> target;  // Sessions that are to hold.
  Bar bar;
  std::optional<CostSettings> price;  // Absent: none is known.
  std::string recipe_note;            // Empty: not shown.
  std::vector<ReportedRecipeFile> recipe_files;
  std::vector<ReportedStep> steps;            // In the order in which they ran, repeats included.
  std::string stopped_because;                // Why the sweep ended; empty: not shown.
  std::vector<std::string> notes;             // Of the run.
  std::optional<PreflightSummary> preflight;  // Absent: not shown.
  std::optional<DrainSummary> drain;          // Absent: not shown.
  std::vector<HookOutcome> hooks;             // In the order in which they started.
  std::optional<RollbackState> rollback;      // Absent: none was owed (yet).
  std::vector<std::string> files_written;
  // From the steps by Conclude.
  TargetVerdict verdict;
  Capacity capacity;  // Of the mix.
  Cost cost;          // Of the mix's last step that held.
  std::vector<LadderResult> tier_ladders;
};

// The steps as the sweep's rules see them.
SweepHistory HistoryOf(const ReportModel& model);
// Sets verdict, capacity, tier ladders and cost from the steps, the target and the price.
void Conclude(ReportModel& model);

}  // namespace plimsoll
