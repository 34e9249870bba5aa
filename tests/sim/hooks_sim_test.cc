// Whole runs with hooks, a window and a kill switch, in virtual time: from rollout to a rollback
// that always happens, never beside another hook and never too late.
#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "coordinator/planning/hook_times.h"
#include "coordinator/run/window_budget.h"
#include "tests/sim/fleet_sim.h"
#include "tests/sim/sim_hooks.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class HooksSim : public testing::Test {
 protected:
  HooksSim() {
    options = SmallRun();
    options.hooks = &hooks;
    options.hook_specs.rollout = {.argv = {"up"}, .deadline = 5min};
    options.hook_specs.promote = {.argv = {"on"}, .deadline = 1min};
    options.hook_specs.rollback = {.argv = {"down"}, .deadline = 2min, .tries = 3};
    options.settings.hooks = TimesOf(options.hook_specs, /*promote=*/false);
  }
  RunResult Run() {
    sim = std::make_unique<FleetSim>(options);
    if (trip_at) sim->TripAt(*trip_at, "production's queue was over 200 for 10s");
    if (stop_at) sim->StopAt(*stop_at, 1);
    return sim->Run();
  }
  SimHooks hooks;
  SimOptions options;
  std::optional<Duration> trip_at;
  std::optional<Duration> stop_at;
  std::unique_ptr<FleetSim> sim;
};

TEST_F(HooksSim, AHealthyRunIsRolledOutMeasuredAndRolledBack) {
  std::uint64_t running_at_rollback = 99;
  std::size_t records_at_rollback = 0;
  hooks.script = [&](const HookCall& call) {
    if (call.phase == HookPhase::kRollout) {
      sim->At(sim->scheduler().Now() - MonoTime{} + 20s - 1ms,
              [this] { EXPECT_EQ(sim->engine().gauges().prompt_tokens, 0u) << "sent too early"; });
    } else {
      running_at_rollback = sim->engine().gauges().running;
      records_at_rollback = sim->records().size();
    }
    return std::pair{Duration(20s), HookState::kOk};
  };
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << result.reason;
  EXPECT_THAT(hooks.phases(), ElementsAre(HookPhase::kRollout, HookPhase::kRollBack));
  EXPECT_EQ(hooks.starts[0].call.verdict, "none");
  EXPECT_EQ(hooks.starts[1].call.verdict, "pass");
  EXPECT_EQ(hooks.starts[1].call.reason, result.reason);
  EXPECT_EQ(running_at_rollback, 0u);
  EXPECT_GT(records_at_rollback, 0u);
}

TEST_F(HooksSim, APassIsPromotedWhereItWasAskedFor) {
  options.settings.hooks = TimesOf(options.hook_specs, /*promote=*/true);
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << result.reason;
  EXPECT_THAT(hooks.phases(), ElementsAre(HookPhase::kRollout, HookPhase::kPromote));
}

TEST_F(HooksSim, AMissIsNeverPromoted) {
  options.settings.hooks = TimesOf(options.hook_specs, /*promote=*/true);
  for (Limit& limit : options.bar.limits) {
    if (limit.metric == Metric::kTtft) limit.value = 0.001;
  }
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << result.reason;
  EXPECT_THAT(hooks.phases(), ElementsAre(HookPhase::kRollout, HookPhase::kRollBack));
  EXPECT_EQ(hooks.starts[1].call.verdict, "fail");
}

TEST_F(HooksSim, ARollbackIsTriedAgainAndThenShouted) {
  for (const std::uint32_t good_at : {2u, 9u}) {
    SCOPED_TRACE(good_at);
    hooks.starts.clear();
    hooks.script = [&](const HookCall& call) {
      const bool fails = call.phase == HookPhase::kRollBack && call.attempt < good_at;
      return std::pair{Duration(5s), fails ? HookState::kFailed : HookState::kOk};
    };
    const RunResult result = Run();
    const bool saved = good_at == 2;
    EXPECT_EQ(result.code, saved ? ExitCode::kHeld : ExitCode::kRollbackFailed) << result.reason;
    EXPECT_EQ(hooks.starts.size(), saved ? 3u : 4u);
    if (!saved) {
      EXPECT_THAT(result.reason, HasSubstr("rollback (attempt 3) failed"));
    }
  }
}

TEST_F(HooksSim, ARolloutThatFailsSendsNothing) {
  hooks.script = [](const HookCall& call) {
    return std::pair{Duration(5s),
                     call.phase == HookPhase::kRollout ? HookState::kFailed : HookState::kOk};
  };
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kCouldNotRun) << result.reason;
  EXPECT_TRUE(sim->records().empty());
  EXPECT_THAT(hooks.phases(), ElementsAre(HookPhase::kRollout, HookPhase::kRollBack));
}

TEST_F(HooksSim, TheKillSwitchEndsEveryCallWithinASecond) {
  hooks.script = [](const HookCall&) { return std::pair{Duration(5s), HookState::kOk}; };
  trip_at = 40s;
  sim = std::make_unique<FleetSim>(options);
  sim->TripAt(*trip_at, "production's queue was over 200 for 10s");
  std::uint64_t before = 0;
  sim->At(*trip_at - 1ms,
          [&] { before = sim->engine().gauges().running + sim->engine().gauges().waiting; });
  std::uint64_t after = 99;
  sim->At(*trip_at + 1s,
          [&] { after = sim->engine().gauges().running + sim->engine().gauges().waiting; });
  const RunResult result = sim->Run();
  EXPECT_EQ(result.code, ExitCode::kStopped) << result.reason;
  EXPECT_THAT(result.reason, HasSubstr("kill switch: production's queue"));
  EXPECT_GT(before, 0u);
  EXPECT_EQ(after, 0u);
  EXPECT_THAT(hooks.phases(), ElementsAre(HookPhase::kRollout, HookPhase::kRollBack));
  EXPECT_EQ(hooks.starts[1].call.verdict, "none");
}

TEST_F(HooksSim, AWindowThatEndsInTheMiddleOfAStepIsRolledBackInTime) {
  // Room for a step and a half; rollbacks as slow as they may be.
  hooks.script = [](const HookCall& call) {
    const bool back = call.phase == HookPhase::kRollBack;
    return std::pair{back ? Duration(2min) : Duration(5min - 1s), HookState::kOk};
  };
  for (const Duration more : {0s, 20s, 45s, 90s, 150s}) {
    SCOPED_TRACE(ToSeconds(more));
    hooks.starts.clear();
    options.settings.window = LeastWindow(options.settings) + more;
    const RunResult result = Run();
    ASSERT_EQ(hooks.phases().back(), HookPhase::kRollBack) << result.reason;
    EXPECT_LE(hooks.starts.back().ended - MonoTime{}, *options.settings.window);
  }
}

TEST_F(HooksSim, AStopInTheRolloutTakesItBack) {
  hooks.script = [](const HookCall&) { return std::pair{Duration(4min), HookState::kOk}; };
  stop_at = 30s;
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kStopped);
  EXPECT_THAT(hooks.phases(), ElementsAre(HookPhase::kRollout, HookPhase::kRollBack));
  EXPECT_EQ(hooks.starts[0].state, HookState::kKilled);
}

}  // namespace
}  // namespace plimsoll
