// HookPort with real processes: a process group each, output to a file as it comes, its start noted
// in the intent before it runs, SIGTERM at the deadline and SIGKILL later, and no `done` while any
// process of it lives, those that put themselves into the background included.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/loop/child_process.h"
#include "common/loop/event_loop.h"
#include "coordinator/hooks/file_lock.h"
#include "coordinator/hooks/hook_ender.h"
#include "coordinator/hooks/hook_runner.h"
#include "coordinator/hooks/run_intent.h"

namespace plimsoll {

// What a hook finds in its environment: its own variables, then those named PLIMSOLL_*, which
// nothing overrides. docs/hooks.md lists them.
std::vector<std::pair<std::string, std::string>> HookEnvironment(const Intent& intent,
                                                                 const HookCall& call);

// Of a hook's file so much stays on the disk, its end first; the rest of what it wrote is given
// back to it.
inline constexpr std::uint64_t kHookFileBytesMax = std::uint64_t{16} << 20;

class ProcessHooks final : public HookPort {
 public:
  // All outlive it. A start that cannot be noted is refused, but for a rollback: that runs anyway.
  ProcessHooks(EventLoop& loop, const Clock& clock, RunIntent& intent);
  // Kills what runs; `done` is not called any more.
  ~ProcessHooks() override;

  void Run(const HookCall& call, std::function<void(HookOutcome)> done) override;
  void Abort() override;

 private:
  Status Start(const HookSpec& hook);
  void Stop(HookState why);
  void OnExit(const ChildExit& exit);
  void EndRest();
  void KeepBounded();
  void Finish();
  void Done();

  EventLoop& loop_;
  const Clock& clock_;
  RunIntent& intent_;
  HookEnder ender_;
  HookCall call_;
  HookOutcome outcome_;
  MonoTime begun_{};
  std::optional<ChildExit> exit_;
  std::optional<HookState> stopped_;  // Why we ended it.
  std::unique_ptr<ChildProcess> child_;
  Timer deadline_;
  Timer kill_;
  Timer bound_;
  Timer done_soon_;
  std::function<void(HookOutcome)> done_;  // Null: none runs.
};

}  // namespace plimsoll
