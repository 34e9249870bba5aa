// What earlier coordinators left behind: rollbacks that are owed are made, runs without an end are
// closed, and the store hears of both. For `plimsoll recover`, and for the start of every run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/status.h"
#include "coordinator/hooks/intent.h"
#include "coordinator/store/store.h"

namespace plimsoll {

struct RecoverOptions {
  std::string run;  // Only this one; empty: all.
  // A guardian or another `recover` that is at a run is waited for; else it is left to it.
  bool wait = true;
  std::function<void(const std::string&)> say;  // Sentences, as things happen.
};

enum class RecoveredKind : std::uint8_t {
  kRolledBack,  // Nothing is owed any more.
  kPromoted,    // Likewise.
  kFailed,      // The rollback failed for good, or cannot be made: the intent cannot be read.
  kHeld,        // Its coordinator lives, or somebody else is at it.
};

struct RecoveredRun {
  std::string run_id;
  RecoveredKind kind = RecoveredKind::kHeld;
};

struct RecoverReport {
  std::vector<RecoveredRun> runs;
  // Whether a rollback is still owed that nobody is at: exit code 6, and no new run.
  bool failed() const;
};

// Makes every rollback that is owed. Opens no store, so that it works beside one who has it, and on
// a full disk. Blocks until all are made.
RecoverReport RollBackUnfinished(const std::string& store_folder, const RecoverOptions& options);

// Takes what was done about settled intents into the store (hooks, lines for the log, how the
// rollback stands) and removes those that owe nothing; closes as interrupted every run without an
// end whose intent nobody holds. `store` is open to write, so that no coordinator is at any of
// them. All of it can be done again.
Status AbsorbRecovered(const std::string& store_folder, Store& store, const Clock& clock,
                       const RecoverOptions& options);

// Both: what `run` and `serve` call once their store is open, before anything else. An error is the
// store's.
StatusOr<RecoverReport> RecoverUnfinished(const std::string& store_folder, Store& store,
                                          const Clock& clock, const RecoverOptions& options);

}  // namespace plimsoll
