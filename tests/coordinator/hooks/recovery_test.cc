// Taking over from a coordinator that died: what is ended, what is run, what is found done.
#include "coordinator/hooks/recovery.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/coordinator/hooks/hook_rig.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

struct RecoveryRig : HookRig {
  std::vector<std::string> said;
  // Lets go of the intent as a coordinator that died would.
  void Die() { intent.reset(); }
  IntentState Recover() {
    auto taken = RunIntent::TakeOver(folder.path(), "r1", HolderKind::kRecover);
    EXPECT_TRUE(taken.ok()) << taken.status();
    Recovery recovery(loop, clock, *std::move(taken),
                      [this](const std::string& text) { said.push_back(text); });
    std::optional<IntentState> state;
    recovery.Start([&](IntentState end) { state = end; });
    Await([&] { return state.has_value(); });
    return state.value_or(IntentState::kOpen);
  }
  Intent Kept() {
    auto kept = ReadIntent(folder.path(), "r1");
    EXPECT_TRUE(kept.ok()) << kept.status();
    return kept.ok() ? *std::move(kept) : Intent{};
  }
};

TEST(RunIntent, OneHoldsItAndTheOthersHearThatItIsHeld) {
  RecoveryRig rig;
  EXPECT_TRUE(ListIntents(rig.folder.path()).empty());
  rig.Begin(HookRig::Line("true"));
  EXPECT_THAT(ListIntents(rig.folder.path()), testing::ElementsAre("r1"));
  EXPECT_TRUE(IsHeld(rig.folder.path(), "r1"));
  EXPECT_TRUE(absl::IsUnavailable(
      RunIntent::TakeOver(rig.folder.path(), "r1", HolderKind::kGuardian).status()));
  EXPECT_TRUE(absl::IsUnavailable(
      RunIntent::Create(rig.folder.path(), rig.intent->facts().spec, WallTime(1s)).status()));
  EXPECT_TRUE(Lives(rig.Kept().holder));
  rig.Die();
  EXPECT_FALSE(IsHeld(rig.folder.path(), "r1"));
  // Another run of the name is not begun over what is owed.
  EXPECT_FALSE(
      RunIntent::Create(rig.folder.path(), rig.Spec({}, HookRig::Line("true")), WallTime(1s)).ok());
  auto taken = RunIntent::TakeOver(rig.folder.path(), "r1", HolderKind::kGuardian);
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(rig.Kept().holder_kind, HolderKind::kGuardian);
  ASSERT_TRUE((*taken)->Remove().ok());
  EXPECT_TRUE(absl::IsNotFound(
      RunIntent::TakeOver(rig.folder.path(), "r1", HolderKind::kGuardian).status()));
  EXPECT_TRUE(std::filesystem::is_empty(rig.folder.path() + "/intents"));
}

TEST(RunIntent, RefusesWhatIsNoIntentAndLeavesNothing) {
  RecoveryRig rig;
  EXPECT_TRUE(absl::IsInvalidArgument(
      RunIntent::Create(rig.folder.path(), rig.Spec({}, {}), WallTime(1s)).status()));
  EXPECT_FALSE(std::filesystem::exists(rig.folder.path() + "/intents"));
}

TEST(RunIntent, AnIntentUnderAnotherRunsNameIsRefused) {
  RecoveryRig rig;
  rig.Begin(HookRig::Line("true"));
  rig.Die();
  std::filesystem::copy(rig.folder.path() + "/intents/r1.json",
                        rig.folder.path() + "/intents/r2.json");
  EXPECT_TRUE(absl::IsDataLoss(
      RunIntent::TakeOver(rig.folder.path(), "r2", HolderKind::kRecover).status()));
}

TEST(Recovery, RollsBackWithTriesAndSaysWhatItDid) {
  RecoveryRig rig;
  HookSpec back = HookRig::Line(
      "echo $PLIMSOLL_ATTEMPT $PLIMSOLL_VERDICT >>$JOURNAL; "
      "[ $PLIMSOLL_ATTEMPT -ge 3 ]");
  back.tries = 5;
  rig.Begin(HookRig::Line("true"), back);
  rig.Die();
  EXPECT_EQ(rig.Recover(), IntentState::kRolledBack);
  EXPECT_EQ(rig.Journal(), "1 interrupted\n2 interrupted\n3 interrupted\n");
  EXPECT_THAT(rig.said, Contains(HasSubstr("rolled back")));
  const Intent kept = rig.Kept();
  EXPECT_EQ(kept.state, IntentState::kRolledBack);
  EXPECT_EQ(kept.hooks.size(), 3u);
  EXPECT_EQ(kept.said.size(), rig.said.size());
}

TEST(Recovery, ARollbackThatFailsForGoodIsKeptAndCanBeTriedAgain) {
  RecoveryRig rig;
  HookSpec back = HookRig::Line("echo $PLIMSOLL_ATTEMPT >>$JOURNAL; exit 7");
  back.tries = 2;
  rig.Begin(HookRig::Line("true"), back);
  rig.Die();
  EXPECT_EQ(rig.Recover(), IntentState::kFailed);
  EXPECT_THAT(rig.said, Contains(HasSubstr("exit code 7")));
  EXPECT_THAT(rig.said, Contains(HasSubstr("ROLLBACK FAILED")));
  EXPECT_EQ(rig.Kept().state, IntentState::kFailed);
  EXPECT_EQ(rig.Recover(), IntentState::kFailed);
  EXPECT_EQ(rig.Journal(), "1\n2\n3\n4\n");  // No attempt's output is written over.
}

TEST(Recovery, WhatEndedWellIsNotMadeAgain) {
  for (const HookPhase phase : {HookPhase::kRollBack, HookPhase::kPromote}) {
    RecoveryRig rig;
    IntentSpec spec = rig.Spec(HookRig::Line("true"), HookRig::Line("echo back >>$JOURNAL"));
    spec.hooks.promote = HookRig::Line("true");
    auto made = RunIntent::Create(rig.folder.path(), spec, WallTime(1s));
    ASSERT_TRUE(made.ok());
    {
      ProcessHooks hooks(rig.loop, rig.clock, **made);
      EXPECT_TRUE(rig.Run(hooks, {.phase = phase}).ok());
    }
    const std::string before = rig.Journal();
    made->reset();
    EXPECT_EQ(rig.Recover(),
              phase == HookPhase::kPromote ? IntentState::kPromoted : IntentState::kRolledBack);
    EXPECT_EQ(rig.Journal(), before);
  }
}

// The hook of the run that broke off, and what it left in a session of its own, deaf to SIGTERM.
TEST(Recovery, EndsTheOrphansBeforeItRollsBack) {
  RecoveryRig rig;
  const HookSpec rollout = HookRig::Line(
      "trap '' TERM; beat() { while :; do echo out >>$JOURNAL; sleep 0.02; done; }; "
      "setsid sh -c 'trap \"\" TERM; while :; do echo out >>$JOURNAL; sleep 0.02; done' & beat");
  rig.Begin(rollout, HookRig::Line("echo back >>$JOURNAL; sleep 0.3; echo back >>$JOURNAL"));
  // A coordinator that dies: its hook goes on and its locks are let go.
  const pid_t coordinator = ::fork();
  if (coordinator == 0) {
    EventLoop loop;
    std::optional<HookOutcome> never;
    auto* hooks = std::make_unique<ProcessHooks>(loop, rig.clock, *rig.intent).release();
    hooks->Run({}, [](HookOutcome) {});
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(coordinator, &status, 0), coordinator);
  rig.Die();
  rig.Await([&] { return std::ranges::count(rig.Journal(), '\n') > 4; });
  EXPECT_EQ(rig.Recover(), IntentState::kRolledBack);
  const std::string journal = rig.Journal();
  const std::size_t back = journal.find("back");
  ASSERT_NE(back, std::string::npos);
  EXPECT_EQ(journal.substr(back), "back\nback\n");
  const Intent kept = rig.Kept();
  ASSERT_EQ(kept.hooks.size(), 2u);
  EXPECT_EQ(kept.hooks[0].outcome.state, HookState::kKilled);
}

TEST(ProcessTable, AMarkTellsAProcessFromTheNextOneOfItsNumber) {
  ProcessMark me = MarkOf(::getpid());
  EXPECT_TRUE(Lives(me));
  ++me.start_ticks;
  EXPECT_FALSE(Lives(me));
  EXPECT_EQ(MarkOf(0).pid, 0);
  EXPECT_EQ(MarkOf(-1).pid, 0);
  EXPECT_FALSE(Lives({}));
}

}  // namespace
}  // namespace plimsoll
