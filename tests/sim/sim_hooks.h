// Hooks as instants: each start takes its time and ends as it is told, and nothing else happens.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/scheduler.h"
#include "coordinator/hooks/hook_runner.h"
#include "gtest/gtest.h"

namespace plimsoll {

class SimHooks final : public HookPort {
 public:
  struct Start {
    HookCall call;
    MonoTime began{};
    MonoTime ended{};
    HookState state = HookState::kOk;
  };

  void Attach(Scheduler& scheduler) { scheduler_ = &scheduler; }
  // Before the scheduler goes.
  void Detach() {
    timer_.Cancel();
    done_ = nullptr;
  }

  // How long this start takes, and how it ends unless it is aborted.
  std::function<std::pair<Duration, HookState>(const HookCall&)> script = [](const HookCall&) {
    return std::pair{Duration(20s), HookState::kOk};
  };
  std::vector<Start> starts;
  bool deaf = false;  // Aborting takes no effect.

  void Run(const HookCall& call, std::function<void(HookOutcome)> done) override {
    EXPECT_FALSE(done_) << Name(call.phase) << " beside a live hook";
    done_ = std::move(done);
    const auto [time, state] = script(call);
    starts.push_back({.call = call, .began = scheduler_->Now(), .state = state});
    timer_ = scheduler_->After(time, [this] { End(); });
  }
  void Abort() override {
    if (!done_ || deaf) return;
    starts.back().state = HookState::kKilled;
    timer_ = scheduler_->After(1s, [this] { End(); });
  }
  std::vector<HookPhase> phases() const {
    std::vector<HookPhase> all;
    for (const Start& start : starts) all.push_back(start.call.phase);
    return all;
  }

 private:
  void End() {
    Start& start = starts.back();
    start.ended = scheduler_->Now();
    HookOutcome outcome{.phase = start.call.phase,
                        .attempt = start.call.attempt,
                        .state = start.state,
                        .duration = start.ended - start.began};
    if (start.state == HookState::kOk) outcome.exit_code = 0;
    if (start.state == HookState::kFailed) outcome.exit_code = 3;
    std::exchange(done_, nullptr)(std::move(outcome));
  }

  Scheduler* scheduler_ = nullptr;
  std::function<void(HookOutcome)> done_;
  Timer timer_;
};

}  // namespace plimsoll
