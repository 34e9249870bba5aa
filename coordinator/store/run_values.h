// What is kept of a run, as values: the types of store, report and command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "coordinator/hooks/hook_outcome.h"
#include "coordinator/judge/capacity_value.h"
#include "coordinator/judge/cost.h"
#include "coordinator/judge/preflight_summary.h"
#include "coordinator/judge/server_summary.h"
#include "coordinator/judge/step_summary.h"
#include "coordinator/judge/verdict.h"

namespace plimsoll {

// Stored: never renumber.
enum class RunState : std::uint8_t {
  kRunning = 1,      // Not ended, or its coordinator died.
  kFinished = 2,     // Ended by itself; the exit code says how.
  kStopped = 3,      // Ended by a person or a kill switch.
  kFailed = 4,       // Could not run or broke off.
  kInterrupted = 5,  // Its coordinator died; closed by the next start or `plimsoll recover`.
};
// "running", "finished", "stopped", "failed", "interrupted".
const char* Name(RunState state);

// A file of the recipe as it was when the run began.
struct RecipeFile {
  std::string path;    // As the scenario writes it.
  std::string bytes;   // Its contents, values that look like secrets left out.
  std::string digest;  // SHA-256 of the file as it was read, hex.
  std::uint32_t secrets_left_out = 0;
  friend bool operator==(const RecipeFile&, const RecipeFile&) = default;
};

// What the rollout applied, kept so that runs can be compared.
struct KeptRecipe {
  std::string note;
  std::vector<RecipeFile> files;  // In the scenario's order.
  bool empty() const { return note.empty() && files.empty(); }
  friend bool operator==(const KeptRecipe&, const KeptRecipe&) = default;
};

// Of a recipe's files: how many, and how large together. Configurations are far smaller.
inline constexpr std::size_t kRecipeFilesMax = 64;
inline constexpr std::size_t kRecipeBytesMax = std::size_t{4} << 20;

struct RunInfo {
  std::string id;  // 1 to 64 bytes of [A-Za-z0-9._-].
  std::string name;
  std::string scenario_text;    // As it was read.
  std::string scenario_digest;  // SHA-256 of the text, hex.
  std::uint64_t seed = 0;
  std::uint64_t nonce = 0;
  std::string corpus_digest;  // SHA-256, hex.
  WallTime started{};         // Fixed once stored; not before 1970.
  std::optional<WallTime> ended;
  RunState state = RunState::kRunning;
  std::optional<int> exit_code;  // Of design section 10.
  std::string plimsoll_version;
  std::string message;  // Why it stopped or failed; one line.
  std::optional<Capacity> capacity;
  std::optional<PreflightSummary> preflight;  // Absent: it was not made.
  Bar bar;                           // That it is judged by; empty: written by an earlier version.
  std::optional<CostSettings> cost;  // Absent: no price is known, or an earlier version wrote it.
  // Whether the deployment was back at the end; absent: no server was asked, or no step was run.
  std::optional<DrainSummary> drain;
  // How the rollback stands. Absent: none was owed (yet).
  std::optional<RollbackState> rollback;
};

struct StepRow {
  StepSummary summary;
  std::vector<std::string> notes;  // "repeated because agent b was lost".
};

}  // namespace plimsoll
