// The seam between what decides when a hook runs and what runs it. Real: process_hooks. In tests
// and in virtual time: a hook is an outcome after a delay.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "coordinator/hooks/hook_outcome.h"
#include "coordinator/hooks/hook_phase.h"

namespace plimsoll {

// A hook as the scenario writes it.
struct HookSpec {
  std::vector<std::string> argv;  // Program and arguments; empty: there is no such hook.
  bool shell = false;             // argv[0] is a line for `sh -c`, what follows its $1, $2, …
  std::string directory;          // It runs in; empty: the coordinator's.
  Duration deadline = 10min;      // From its start; then its processes are ended.
  std::vector<std::pair<std::string, std::string>> env;  // Added to the coordinator's.
  std::uint32_t tries = 1;  // How often it is started until it ends well; see HookTries.

  bool empty() const { return argv.empty(); }
  friend bool operator==(const HookSpec&, const HookSpec&) = default;
};

struct RunHooks {
  HookSpec rollout;
  HookSpec promote;
  HookSpec rollback;
  const HookSpec& of(HookPhase phase) const {
    return phase == HookPhase::kRollout   ? rollout
           : phase == HookPhase::kPromote ? promote
                                          : rollback;
  }
  friend bool operator==(const RunHooks&, const RunHooks&) = default;
};

// One start of one hook.
struct HookCall {
  HookPhase phase = HookPhase::kRollout;
  std::uint32_t attempt = 1;  // From 1, counted for each phase of a run.
  // What the run has found: "pass", "fail", "too_close", "no_data"; "none" before there is a
  // verdict, "interrupted" where the coordinator died.
  std::string verdict = "none";
  std::string reason;  // Why it is rolled back or promoted, one line; empty: nothing to say.
};

class HookPort {
 public:
  virtual ~HookPort() = default;
  // Starts the hook of call.phase, one at a time: none may be running, and the phase must have one.
  // `done` is called once, in a later turn, when no process of the hook is left, however it ended;
  // it may call Run() again.
  virtual void Run(const HookCall& call, std::function<void(HookOutcome)> done) = 0;
  // Ends the hook that runs: `done` comes as ever, with kKilled. Nothing if none does.
  virtual void Abort() = 0;
};

}  // namespace plimsoll
