// Seeded random walks through the run machine: whatever comes in whatever order, a run always has a
// way on (a deadline, or an answer that is out), and it finishes exactly once.
#include <optional>

#include "common/base/rng.h"
#include "tests/coordinator/run/machine_rig.h"

namespace plimsoll {
namespace {

MachineEvent RandomEvent(Rng* rng, const MachineState& state) {
  const auto slot = static_cast<std::uint32_t>(rng->Below(2));
  // Mostly of the present step.
  const std::uint32_t step = rng->Chance(0.9) ? state.step.step : state.step.step - 1;
  switch (rng->Below(21)) {
    case 0:
      return event::PreflightDone{rng->Chance(0.9) ? absl::OkStatus()
                                                   : absl::UnavailableError("dead")};
    case 1:
      return event::FleetComplete{};
    case 2:
      return event::AgentReplaced{slot};
    case 3:
      if (rng->Chance(0.3)) return event::AgentLost{slot, "lost"};
      return event::RunReadyBy{slot};
    case 4:
      if (rng->Chance(0.05)) return event::AgentFaulted{slot, "fault"};
      return event::RunReadyBy{slot};
    case 5:
      if (rng->Chance(0.05)) return event::StopRequested{1 + static_cast<int>(rng->Below(3))};
      return event::StoppedBy{slot};
    case 6:
      if (rng->Chance(0.03)) return event::StoreFailed{"full"};
      if (rng->Chance(0.05)) return event::AgentFailedToStart{"gone"};
      return event::StoppedBy{slot};
    case 7:
    case 8:
    case 9:
      return event::StepReadyBy{slot, step};
    case 10:
    case 11:
    case 12:
      return event::StepClosedBy{slot, step};
    case 13:
      return event::StepJudged{VerdictOf(static_cast<Verdict>(1 + rng->Below(4))),
                               3,
                               {},
                               rng->Chance(0.1) ? SweepEvent::kKvCacheFull : SweepEvent::kNone};
    case 14:
      return event::RunReadyBy{slot};
    case 15:
      return event::LookFailed{step, 2, 41s, "slow"};
    case 16:
      if (rng->Chance(0.3)) return event::DeploymentBack{};
      return event::StoppedBy{slot};
    case 17:
      return event::EvalsAskedBy{slot};
    case 18:
      if (rng->Chance(0.05)) return event::WindowCloses{};
      if (rng->Chance(0.05)) return event::KillSwitchTripped{"full"};
      return event::StoppedBy{slot};
    case 19:
      return event::HookEnded{static_cast<HookPhase>(rng->Below(3)), rng->Chance(0.8), "ended"};
    default:
      return event::Begin{};
  }
}

bool EndsRun(const MachineEvent& e) {
  return std::holds_alternative<event::AgentLost>(e) ||
         std::holds_alternative<event::AgentFaulted>(e) ||
         std::holds_alternative<event::StopRequested>(e) ||
         std::holds_alternative<event::StoreFailed>(e) ||
         std::holds_alternative<event::WindowCloses>(e) ||
         std::holds_alternative<event::KillSwitchTripped>(e);
}

// A rollback hook was asked for exactly once, and after every other hook had ended; or a hook could
// not be ended, and then nothing was started beside it.
void ExpectRolledBack(const MachineRig& rig) {
  std::size_t rollbacks = 0;
  bool promoted = false;
  for (const auto& run : rig.DidEver<action::RunHook>()) {
    rollbacks += run.phase == HookPhase::kRollBack ? 1 : 0;
    promoted = promoted || run.phase == HookPhase::kPromote;
  }
  const auto finish = rig.DidEver<action::Finish>();
  const bool promotion_stood = promoted && finish[0].code == ExitCode::kHeld;
  if (finish[0].reason.find("cannot be ended") != std::string::npos) {
    EXPECT_LE(rollbacks, 1u);
  } else {
    EXPECT_EQ(rollbacks, promotion_stood ? 0u : 1u) << finish[0].reason;
  }
}

TEST(RunMachineWalk, NeverStuckAndNeverFinishingTwice) {
  constexpr std::uint64_t kWalks = 1000;
  std::size_t phases_seen[kRunPhases] = {};
  for (std::uint64_t seed = 1; seed <= kWalks; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    RunSettings settings = MachineRig::Settings(rng.Chance(0.5));
    if (rng.Chance(0.7)) settings.back_limit = 20s;
    if (rng.Chance(0.5)) {
      settings.extend = settings.refine = settings.fail_early = true;
      settings.budget = 30min;
      settings.drain_between_steps = rng.Chance(0.3);
      settings.tier_ladders = {{.name = "light", .tier = 1, .sessions = {5}}};
    }
    if (rng.Chance(0.5)) settings.mini_run = {.askers = 2, .at_once = 2, .limit = 60s};
    const bool hooks = rng.Chance(0.5);
    if (hooks) settings.hooks = {.rollout = 5min, .promote = {}, .rollback = 2min};
    if (hooks && rng.Chance(0.5)) {
      settings.hooks.promote = 1min;
      settings.sessions = {5};  // So that walks come to hold it.
      settings.target = 5;
    }
    if (rng.Chance(0.5)) settings.window = 2h;
    MachineRig rig(settings);
    rig.Feed(event::Begin{});
    bool deadline = hooks;  // Of the rollout.
    const auto follow = [&] {
      for (const MachineAction& a : rig.actions) {
        if (std::holds_alternative<action::SetDeadline>(a)) deadline = true;
        if (std::holds_alternative<action::ClearDeadline>(a)) deadline = false;
      }
    };
    for (int i = 0; i < 200 && rig.phase() != RunPhase::kDone; ++i) {
      ++phases_seen[static_cast<std::size_t>(rig.phase())];
      const MachineEvent next = RandomEvent(&rng, rig.machine.state());
      // Few walks would come to a promotion.
      if (settings.hooks.promote && EndsRun(next) && rng.Chance(0.95)) continue;
      rig.Feed(next);
      follow();
      const RunPhase phase = rig.phase();
      // Something must still come: the preflight's answer, the judge's, or a deadline.
      ASSERT_TRUE(phase == RunPhase::kPreflight || phase == RunPhase::kDone || deadline ||
                  (phase == RunPhase::kStep && rig.machine.state().judging))
          << Name(phase);
    }
    // From here on only time passes, and what is out is answered: the run comes to its end.
    for (int i = 0; i < 40 && rig.phase() != RunPhase::kDone; ++i) {
      if (rig.phase() == RunPhase::kPreflight) {
        rig.Feed(event::PreflightDone{absl::OkStatus()});
      } else if (rig.phase() == RunPhase::kStep && rig.machine.state().judging) {
        rig.JudgeAs(Verdict::kNoData);
      } else {
        rig.Feed(event::DeadlinePassed{});
      }
    }
    ASSERT_EQ(rig.phase(), RunPhase::kDone);
    for (int i = 0; i < 30; ++i) {
      rig.Feed(RandomEvent(&rng, rig.machine.state()));
      EXPECT_TRUE(rig.Did<action::PrepareStep>().empty());
    }
    ASSERT_EQ(rig.DidEver<action::Finish>().size(), 1u);
    EXPECT_FALSE(rig.DidEver<action::Finish>()[0].reason.empty());
    if (hooks) ExpectRolledBack(rig);
  }
  for (std::size_t phase = 0; phase < kRunPhases; ++phase) {
    if (phase == static_cast<std::size_t>(RunPhase::kDone)) continue;
    EXPECT_GT(phases_seen[phase], 50u) << phase;
  }
}

}  // namespace
}  // namespace plimsoll
