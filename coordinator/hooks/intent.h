// The intent of a run to roll back, as a value: what whoever comes after a dead coordinator needs.
// It is a file in the store's folder, intents/RUN_ID.json, and there before the rollout starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"
#include "coordinator/hooks/hook_outcome.h"
#include "coordinator/hooks/hook_runner.h"
#include "coordinator/hooks/process_table.h"

namespace plimsoll {

// How hooks are ended and tried again, and when a guardian steps in.
struct HookRules {
  Duration grace = 10s;           // From the coordinator's death until the guardian acts.
  Duration kill_after = 5s;       // From SIGTERM to SIGKILL.
  Duration retry_wait = 1s;       // Before the second try; doubles from then on …
  Duration retry_wait_max = 30s;  // … up to this.
  friend bool operator==(const HookRules&, const HookRules&) = default;
};

// What is known when a run begins.
struct IntentSpec {
  std::string run_id;         // A run's id: letters, digits, dots, dashes, underscores.
  std::string scenario;       // The scenario's name: PLIMSOLL_SCENARIO.
  std::string recipe;         // PLIMSOLL_RECIPE: paths of the recipe's files, one a line.
  std::string recipe_digest;  // PLIMSOLL_RECIPE_DIGEST.
  RunHooks hooks;             // With a rollback.
  HookRules rules;
  friend bool operator==(const IntentSpec&, const IntentSpec&) = default;
};

// By name in the file.
enum class IntentState : std::uint8_t {
  kOpen,        // The run goes on, or broke off: a rollback is owed.
  kRolledBack,  // Paid.
  kPromoted,    // None is owed: the promotion ended well.
  kFailed,      // Owed, and failed at every try.
};
// "open", "rolled back", "promoted", "rollback failed".
const char* Name(IntentState state);

enum class HolderKind : std::uint8_t { kCoordinator, kGuardian, kRecover };
// "coordinator", "guardian", "recover".
const char* Name(HolderKind kind);

// A hook that was started; `outcome` is what is known of it so far.
struct NotedHook {
  ProcessMark process;  // Its first process, which leads its group. pid 0: it could not start.
  bool ended = false;   // False: it runs, or whoever ran it died.
  // Without its output, which is in the file OutputPath() names. Of one that runs, phase, attempt
  // and start are set.
  HookOutcome outcome;
  friend bool operator==(const NotedHook&, const NotedHook&) = default;
};

// What was done about a run after its coordinator died, for its log.
struct IntentLine {
  WallTime at{};
  std::string text;
  friend bool operator==(const IntentLine&, const IntentLine&) = default;
};

struct Intent {
  IntentSpec spec;
  std::string token;  // Of this intent's hooks: see HookTrail.
  WallTime created{};
  IntentState state = IntentState::kOpen;
  HolderKind holder_kind = HolderKind::kCoordinator;
  ProcessMark holder;            // Who sees to the run; it has the lock, else it died.
  std::vector<NotedHook> hooks;  // In the order in which they started.
  std::vector<IntentLine> said;
  friend bool operator==(const Intent&, const Intent&) = default;

  // The next attempt's number.
  std::uint32_t NextAttempt(HookPhase phase) const;
  // Whether a hook of the phase has ended well.
  bool Succeeded(HookPhase phase) const;
};

// Bounds of what is read: a file beyond them is no intent of ours.
inline constexpr std::size_t kIntentBytesMax = std::size_t{4} << 20;
inline constexpr std::size_t kIntentWordsMax = 4096;  // Arguments and variables of a hook.
inline constexpr std::uint32_t kHookTriesMax = 100;
inline constexpr Duration kHookDeadlineMax = 24h;

// InvalidArgument, in words: no id, no rollback, a deadline or tries out of bounds, text that is
// not UTF-8 and would not come back as it went in.
Status CheckIntent(const IntentSpec& spec);

std::string EncodeIntent(const Intent& intent);
// DataLoss, in words: not JSON, something missing, of another kind or out of bounds.
StatusOr<Intent> DecodeIntent(std::string_view text);

}  // namespace plimsoll
