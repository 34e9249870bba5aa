#include "coordinator/hooks/hook_tries.h"

#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;

// A hook that takes a second and ends as it is told.
class ScriptedHook : public HookPort {
 public:
  explicit ScriptedHook(Scheduler& scheduler) : scheduler_(scheduler) {}
  void Run(const HookCall& call, std::function<void(HookOutcome)> done) override {
    started.push_back(ToSeconds(scheduler_.Now().time_since_epoch()));
    attempts.push_back(call.attempt);
    call_ = call;
    done_ = std::move(done);
    end_ = scheduler_.After(
        1s, [this] { End(attempts.size() > fails ? HookState::kOk : HookState::kFailed); });
  }
  void Abort() override {
    if (done_) end_ = scheduler_.After(10ms, [this] { End(HookState::kKilled); });
  }

  std::size_t fails = 0;
  std::vector<double> started;
  std::vector<std::uint32_t> attempts;

 private:
  void End(HookState state) {
    const auto done = std::exchange(done_, nullptr);
    done({.phase = call_.phase, .attempt = call_.attempt, .state = state});
  }
  Scheduler& scheduler_;
  HookCall call_;
  Timer end_;
  std::function<void(HookOutcome)> done_;
};

struct Rig {
  SimScheduler scheduler;
  ScriptedHook hook{scheduler};
  std::vector<HookState> each;
  std::optional<HookOutcome> last;
  void Run(HookTries& tries, std::uint32_t first_attempt = 1) {
    tries.Run(
        {.phase = HookPhase::kRollBack, .attempt = first_attempt},
        [this](const HookOutcome& outcome) { each.push_back(outcome.state); },
        [this](HookOutcome outcome) {
          ASSERT_FALSE(last.has_value());
          last = std::move(outcome);
        });
  }
};

TEST(HookTries, PausesDoubleUpToTheirBoundAndAttemptsCountOn) {
  Rig rig;
  rig.hook.fails = 4;
  HookTries tries(rig.hook, rig.scheduler, {.tries = 9, .wait = 2s, .wait_max = 5s});
  rig.Run(tries, 3);
  rig.scheduler.RunUntilIdle();
  const double at = rig.hook.started[0];
  std::vector<double> pauses;
  for (const double start : rig.hook.started) pauses.push_back(start - at);
  // A second each, and 2, 4, 5, 5 s between.
  EXPECT_THAT(pauses, ElementsAre(0, 3, 8, 14, 20));
  EXPECT_THAT(rig.hook.attempts, ElementsAre(3, 4, 5, 6, 7));
  ASSERT_TRUE(rig.last.has_value());
  EXPECT_TRUE(rig.last->ok());
  EXPECT_EQ(rig.last->attempt, 7u);
  EXPECT_EQ(rig.each.size(), 5u);
}

TEST(HookTries, NoMoreThanItsTries) {
  Rig rig;
  rig.hook.fails = 100;
  HookTries tries(rig.hook, rig.scheduler, {.tries = 3});
  rig.Run(tries);
  rig.scheduler.RunUntilIdle();
  EXPECT_EQ(rig.hook.attempts.size(), 3u);
  ASSERT_TRUE(rig.last.has_value());
  EXPECT_EQ(rig.last->state, HookState::kFailed);
}

TEST(HookTries, StopEndsWhatRunsAndTriesNoMore) {
  Rig rig;
  rig.hook.fails = 100;
  HookTries tries(rig.hook, rig.scheduler, {.tries = 5});
  rig.Run(tries);
  rig.scheduler.Advance(500ms);
  tries.Stop();
  rig.scheduler.RunUntilIdle();
  ASSERT_TRUE(rig.last.has_value());
  EXPECT_EQ(rig.last->state, HookState::kKilled);
  EXPECT_EQ(rig.hook.attempts.size(), 1u);
}

TEST(HookTries, StopCutsAPauseShort) {
  Rig rig;
  rig.hook.fails = 100;
  HookTries tries(rig.hook, rig.scheduler, {.tries = 5, .wait = 10s});
  rig.Run(tries);
  rig.scheduler.Advance(2s);
  tries.Stop();
  rig.scheduler.Advance(1ms);
  ASSERT_TRUE(rig.last.has_value());
  EXPECT_EQ(rig.last->state, HookState::kFailed);
  rig.scheduler.RunUntilIdle();
  EXPECT_EQ(rig.hook.attempts.size(), 1u);
}

}  // namespace
}  // namespace plimsoll
