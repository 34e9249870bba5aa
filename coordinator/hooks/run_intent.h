// RunIntent: a run's intent held by us. Who has it, and nobody else, starts hooks of the run; the
// kernel gives it back when we die. In the store's folder: intents/RUN_ID.json, .lock (who holds
// the intent) and .hook.lock (every process of a hook holds it), hooks/RUN_ID/ (what hooks wrote).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"
#include "coordinator/hooks/file_lock.h"
#include "coordinator/hooks/intent.h"
#include "coordinator/hooks/process_table.h"

namespace plimsoll {

class RunIntent {
 public:
  // Writes it, durably, and holds it. InvalidArgument by CheckIntent(); Unavailable: there is one
  // of that run already; else what the disk says. `created` is the wall clock's now.
  static StatusOr<std::unique_ptr<RunIntent>> Create(const std::string& store_folder,
                                                     const IntentSpec& spec, WallTime created);
  // Takes one over whose holder died. NotFound: there is none (any more). Unavailable: somebody
  // holds it. DataLoss: it cannot be read.
  static StatusOr<std::unique_ptr<RunIntent>> TakeOver(const std::string& store_folder,
                                                       const std::string& run_id, HolderKind kind);
  // Lets go; what is written stays.
  ~RunIntent() = default;
  RunIntent(const RunIntent&) = delete;
  RunIntent& operator=(const RunIntent&) = delete;

  const Intent& facts() const { return intent_; }
  const std::string& store_folder() const { return folder_; }
  HookTrail trail() const;
  std::string HookLockPath() const;
  std::string OutputPath(HookPhase phase, std::uint32_t attempt) const;
  // `note` and what the file holds, bounded.
  HookOutcome WithOutput(HookOutcome outcome) const;

  // A hook exists and will run once this is OK: noted durably first. `pid` leads its group.
  Status NoteStart(HookPhase phase, std::uint32_t attempt, int pid, WallTime started);
  // It has ended, or never started. Its output is left out.
  Status NoteEnd(const HookOutcome& outcome);
  // One line for the run's log.
  Status Say(WallTime at, std::string_view text);
  Status SetState(IntentState state);
  // The run's log has what was said.
  Status ForgetSaid();
  // The run ended and the store has all of it: removes intent and locks. What hooks wrote stays.
  Status Remove();

 private:
  RunIntent(std::string folder, FileLock lock, Intent intent);
  Status Save() const;

  std::string folder_;
  FileLock lock_;
  Intent intent_;
};

// Ids of the runs that the store's folder holds intents of, ascending; whatever they are worth.
std::vector<std::string> ListIntents(const std::string& store_folder);
// As it is on disk, without holding it. NotFound; DataLoss.
StatusOr<Intent> ReadIntent(const std::string& store_folder, const std::string& run_id);
// Whether somebody sees to it now.
bool IsHeld(const std::string& store_folder, const std::string& run_id);
// hooks/RUN_ID in the store's folder.
std::string HookFolder(const std::string& store_folder, const std::string& run_id);

}  // namespace plimsoll
