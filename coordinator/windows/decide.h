// What a queue of windows does now: one pure function of the queue, what is going on, and the
// instant. Rules:
//
// - one run at a time; none beside another that holds the store
// - a run begins only where it is over, rollback and all, before its window ends
// - an opening is settled once: by a run that was begun, or as missed, with why
// - of several that may begin the one whose last chance comes first
// - a run has `length - reserve` of its window; then it is told to drain and roll back, and at the
//   end of `length` to abort
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/windows/window_entry.h"

namespace plimsoll {

// Whether the scenario is still what was added.
enum class ScenarioNow : std::uint8_t { kSame, kChanged, kUnreadable };

struct QueuedWindow {
  WindowEntry entry;
  WindowState state;
  TimeZone zone;
};

struct RunningWindow {
  std::string id;
  WallTime stop_at{};   // Told to drain and roll back.
  WallTime abort_at{};  // Told to abort.
  int told = 0;         // How often it was told to stop, by whomever.
};

struct QueueView {
  std::vector<QueuedWindow> windows;
  std::optional<RunningWindow> running;
  std::string store_held_by;  // Who else holds the store, in words; empty: nobody.
  WallTime up_since{};        // Nobody ran the queue before.
  bool stopping = false;      // Nothing is begun any more.
};

struct QueueAction {
  enum class Kind : std::uint8_t {
    kStart,  // Begin a run of `id`, having settled the opening.
    kMiss,   // Settle the opening as missed.
    kTell,   // Tell the running one to stop, for the `told`-th time.
  };
  Kind kind = Kind::kMiss;
  std::string id;
  Opening opening;
  std::string why;  // Of kMiss and kTell, in words.
  int told = 0;
  RunningWindow running;  // Of kStart.
};

struct QueueDecision {
  std::vector<QueueAction> actions;  // In their order; at most one start.
  std::optional<WallTime> wake;  // When there is something to decide, if nothing happens before.
};

// Every action is to be carried out before it is asked again. `scenario` is asked of windows that
// could begin now.
QueueDecision DecideQueue(const QueueView& view, WallTime now,
                          const std::function<ScenarioNow(const WindowEntry&)>& scenario);

// The state after an action on its window; `at` is now.
void Settle(const QueueAction& action, WallTime at, WindowEntry& entry, WindowState& state);

}  // namespace plimsoll
