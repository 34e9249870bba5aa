#include "coordinator/hooks/process_hooks.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include "coordinator/hooks/durable_file.h"
#include "tests/coordinator/hooks/hook_rig.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Numbers that hooks wrote to the journal, one a line.
std::vector<int> Pids(const HookRig& rig) {
  std::vector<int> pids;
  std::istringstream lines(rig.Journal());
  for (int pid = 0; lines >> pid;) pids.push_back(pid);
  return pids;
}

TEST(ProcessHooks, ExitCodeOutputAndEnvironment) {
  HookRig rig;
  rig.Begin(
      HookRig::Line("echo out; echo err >&2; echo $PLIMSOLL_RUN_ID $PLIMSOLL_SCENARIO "
                    "$PLIMSOLL_RECIPE $PLIMSOLL_RECIPE_DIGEST $PLIMSOLL_PHASE "
                    "$PLIMSOLL_ATTEMPT $PLIMSOLL_VERDICT $PLIMSOLL_REASON; exit 3"));
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  const HookOutcome outcome = rig.Run(
      hooks, {.phase = HookPhase::kRollout, .attempt = 2, .verdict = "none", .reason = "why"});
  EXPECT_EQ(outcome.state, HookState::kFailed);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.signal, std::nullopt);
  EXPECT_EQ(outcome.attempt, 2u);
  EXPECT_EQ(outcome.output, "out\nerr\nr1 demo /a.yaml d1 rollout 2 none why\n");
  EXPECT_EQ(outcome.output_cut_bytes, 0u);
  EXPECT_GT(outcome.started, WallTime{});
  EXPECT_GT(outcome.duration, Duration{});
  // All of that is on the disk as well, but for the output, which has a file.
  const auto kept = ReadIntent(rig.folder.path(), "r1");
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->hooks.size(), 1u);
  EXPECT_TRUE(kept->hooks[0].ended);
  EXPECT_EQ(rig.intent->WithOutput(kept->hooks[0].outcome), outcome);
}

TEST(ProcessHooks, ArgumentsStayArguments) {
  HookRig rig;
  rig.Begin({.argv = {"printf", "%s|", "a b", "$HOME", ""}}, HookRig::Line("true"));
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  const HookOutcome outcome = rig.Run(hooks);
  EXPECT_EQ(outcome.state, HookState::kOk);
  EXPECT_EQ(outcome.output, "a b|$HOME||");
}

TEST(ProcessHooks, RunsInItsFolder) {
  HookRig rig;
  HookSpec rollout = HookRig::Line("pwd");
  rollout.directory = "/usr";
  rig.Begin(rollout);
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  EXPECT_EQ(rig.Run(hooks).output, "/usr\n");
}

TEST(ProcessHooks, WhatCannotStartIsSaid) {
  HookRig rig;
  rig.Begin({.argv = {"/no/such/hook"}});
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  const HookOutcome outcome = rig.Run(hooks);
  EXPECT_EQ(outcome.state, HookState::kCouldNotStart);
  EXPECT_THAT(outcome.note, HasSubstr("/no/such/hook"));
  EXPECT_EQ(outcome.exit_code, std::nullopt);
  // And the next one runs.
  EXPECT_EQ(rig.Run(hooks, {.phase = HookPhase::kRollBack}).state, HookState::kOk);
  // A phase without a hook cannot be run.
  EXPECT_EQ(rig.Run(hooks, {.phase = HookPhase::kPromote}).state, HookState::kCouldNotStart);
}

// The program does not run before its start is on the disk: it sees the note itself.
TEST(ProcessHooks, ItsStartIsNotedBeforeItRuns) {
  HookRig rig;
  rig.Begin(HookRig::Line("grep -c \"\\\"pid\\\": $$\" " + rig.folder.path() + "/intents/r1.json"));
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  EXPECT_EQ(rig.Run(hooks).output, "1\n");
}

TEST(ProcessHooks, AStartThatCannotBeNotedIsRefusedButForARollback) {
  HookRig rig;
  rig.Begin(HookRig::Line("echo out"), HookRig::Line("echo back"));
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  // A folder in the way of the file that is written aside.
  std::filesystem::create_directory(rig.folder.path() + "/intents/r1.json.new");
  const HookOutcome rollout = rig.Run(hooks);
  EXPECT_EQ(rollout.state, HookState::kCouldNotStart);
  EXPECT_EQ(rollout.output, "");
  const HookOutcome back = rig.Run(hooks, {.phase = HookPhase::kRollBack});
  EXPECT_EQ(back.state, HookState::kOk);
  EXPECT_EQ(back.output, "back\n");
}

TEST(ProcessHooks, TheDeadlineEndsTheWholeGroup) {
  HookRig rig;
  HookSpec rollout = HookRig::Line("echo $$ >>$JOURNAL; sleep 1000 & echo $! >>$JOURNAL; wait");
  rollout.deadline = 300ms;
  rig.Begin(rollout);
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  const HookOutcome outcome = rig.Run(hooks);
  EXPECT_EQ(outcome.state, HookState::kTimedOut);
  EXPECT_EQ(outcome.signal, SIGTERM);
  const std::vector<int> pids = Pids(rig);
  for (const int pid : pids) EXPECT_EQ(MarkOf(pid).pid, 0) << pid;
}

// In sessions of their own, deaf to SIGTERM, without the lock, or without the environment: `done`
// comes when they are gone all the same.
TEST(ProcessHooks, NoDoneWhileADaemonOfItLives) {
  for (const std::string way :
       {"setsid sh -c \"$FOREVER\" & ", "setsid env -i JOURNAL=$JOURNAL sh -c \"$FOREVER\" & ",
        "python3 -c 'import os, subprocess; subprocess.Popen([\"sh\", \"-c\", "
        "os.environ[\"FOREVER\"]], start_new_session=True)'; "}) {
    SCOPED_TRACE(way);
    HookRig rig;
    HookSpec rollout = HookRig::Line(way + "while [ ! -s $JOURNAL ]; do sleep 0.01; done");
    rollout.env = {{"FOREVER", "trap '' TERM; echo $$ >>$JOURNAL; while :; do sleep 0.05; done"}};
    rig.Begin(rollout);
    ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
    const HookOutcome outcome = rig.Run(hooks);
    EXPECT_EQ(outcome.state, HookState::kOk);
    EXPECT_THAT(outcome.note, HasSubstr("background"));
    const std::vector<int> pids = Pids(rig);
    ASSERT_EQ(pids.size(), 1u);
    EXPECT_EQ(MarkOf(pids[0]).pid, 0);
    const auto held = FileLock::Held(rig.intent->HookLockPath());
    EXPECT_TRUE(held.ok() && !*held);
  }
}

TEST(ProcessHooks, AbortEndsItAndSaysSo) {
  HookRig rig;
  rig.Begin(HookRig::Line("trap '' TERM; echo $$ >>$JOURNAL; while :; do sleep 0.05; done"));
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  hooks.Abort();  // Of nothing.
  std::optional<HookOutcome> outcome;
  hooks.Run({}, [&](HookOutcome ended) { outcome = std::move(ended); });
  rig.Await([&] { return !Pids(rig).empty(); });
  hooks.Abort();
  hooks.Abort();
  rig.Await([&] { return outcome.has_value(); });
  EXPECT_EQ(outcome->state, HookState::kKilled);
  EXPECT_EQ(outcome->signal, SIGKILL);  // It did not hear the first.
}

TEST(ProcessHooks, OfALongOutputTheEndIsKept) {
  HookRig rig;
  rig.Begin(HookRig::Line("yes 0123456 | head -c 200000; echo last"));
  ProcessHooks hooks(rig.loop, rig.clock, *rig.intent);
  const HookOutcome outcome = rig.Run(hooks);
  EXPECT_EQ(outcome.output.size(), kHookTailBytesMax);
  EXPECT_EQ(outcome.output_cut_bytes, 200005 - kHookTailBytesMax);
  EXPECT_TRUE(outcome.output.ends_with("last\n"));
}

TEST(DurableFile, BoundsWhatAFileHoldsOnTheDisk) {
  const TempFolder folder;
  const std::string path = folder.path() + "/log";
  ASSERT_TRUE(WriteDurably(path, std::string(3 << 20, 'a') + "end").ok());
  BoundFile(path, 1 << 20, 4096);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_size, (3 << 20) + 3);
  if (info.st_blocks * 512 > (1 << 20)) GTEST_SKIP() << "this file system punches no holes";
  const FileTail tail = ReadTail(path, 8);
  EXPECT_EQ(tail.bytes, "aaaaaend");
  EXPECT_EQ(tail.cut_bytes, (3u << 20) - 5);
}

}  // namespace
}  // namespace plimsoll
