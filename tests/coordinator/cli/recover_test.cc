// What dead coordinators left: rolled back, taken into the store, and said.
#include "coordinator/cli/recover.h"

#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/real_clock.h"
#include "coordinator/api/run_view.h"
#include "coordinator/hooks/run_intent.h"
#include "coordinator/report/run_list.h"
#include "coordinator/store/run_repo.h"
#include "tests/coordinator/store/temp_folder.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

struct RecoverTest : testing::Test {
  TempFolder folder;
  MemoryStore store;
  RunRepo repo{store};
  RealClock clock;
  std::vector<std::string> said;
  RecoverOptions options{.say = [this](const std::string& text) { said.push_back(text); }};

  void PutRun(const std::string& id, RunState state = RunState::kRunning) {
    ASSERT_TRUE(
        repo.PutRun({.id = id, .name = "demo", .started = WallTime(1'800'000'000s), .state = state})
            .ok());
  }
  std::unique_ptr<RunIntent> Owe(const std::string& id, const std::string& line) {
    const IntentSpec spec{.run_id = id,
                          .hooks = {.rollback = {.argv = {line}, .shell = true, .deadline = 60s}},
                          .rules = {.grace = 0s, .kill_after = 1s, .retry_wait = 10ms}};
    auto intent = RunIntent::Create(folder.path(), spec, clock.WallNow());
    EXPECT_TRUE(intent.ok()) << intent.status();
    return intent.ok() ? *std::move(intent) : nullptr;
  }
  RecoverReport Recover() {
    auto report = RecoverUnfinished(folder.path(), store, clock, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : RecoverReport{};
  }
  std::string Shown(const std::string& id) {
    const auto view = ReadRunView(repo, id, std::nullopt);
    return view.ok() ? RunText(*view) : std::string(MessageOf(view.status()));
  }
};

TEST_F(RecoverTest, NothingOwedIsNothingDone) {
  PutRun("done", RunState::kFinished);
  const RecoverReport report = Recover();
  EXPECT_TRUE(report.runs.empty());
  EXPECT_FALSE(report.failed());
  EXPECT_TRUE(said.empty());
  EXPECT_EQ(repo.GetRun("done")->state, RunState::kFinished);
}

TEST_F(RecoverTest, ARunThatBrokeOffIsRolledBackClosedAndShown) {
  PutRun("r1");
  (void)Owe("r1", "echo it is back");
  EXPECT_FALSE(Recover().failed());
  const RunInfo run = *repo.GetRun("r1");
  EXPECT_EQ(run.state, RunState::kInterrupted);
  EXPECT_EQ(run.rollback, RollbackState::kDone);
  EXPECT_TRUE(run.ended.has_value());
  EXPECT_EQ(run.exit_code, std::nullopt);
  const auto hooks = *repo.Hooks("r1");
  ASSERT_EQ(hooks.size(), 1u);
  EXPECT_EQ(hooks[0].output, "it is back\n");
  EXPECT_THAT(Shown("r1"), HasSubstr("rollback (attempt 1) ended well"));
  EXPECT_THAT(Shown("r1"), HasSubstr("INTERRUPTED: its coordinator died"));
  EXPECT_THAT(said, Contains(HasSubstr("rolled back")));
  EXPECT_TRUE(ListIntents(folder.path()).empty());
  said.clear();
  EXPECT_TRUE(Recover().runs.empty());
  EXPECT_TRUE(said.empty());
}

TEST_F(RecoverTest, ARollbackThatFailedIsMarkedUntilItSucceeds) {
  PutRun("r1");
  (void)Owe("r1", "[ -e " + folder.path() + "/mended ] || { echo no way; exit 4; }");
  EXPECT_TRUE(Recover().failed());
  EXPECT_EQ(repo.GetRun("r1")->rollback, RollbackState::kFailed);
  EXPECT_EQ(repo.GetRun("r1")->exit_code, 6);
  EXPECT_THAT(RunList(*repo.ListRuns(9), ""), HasSubstr("ROLLBACK FAILED: plimsoll recover r1"));
  EXPECT_THAT(Shown("r1"), HasSubstr("ROLLBACK FAILED"));
  EXPECT_THAT(Shown("r1"), HasSubstr("no way"));
  const std::size_t lines = repo.Events("r1")->size();
  std::ofstream(folder.path() + "/mended").flush();
  EXPECT_FALSE(Recover().failed());
  EXPECT_EQ(repo.GetRun("r1")->rollback, RollbackState::kDone);
  EXPECT_EQ(repo.GetRun("r1")->exit_code, std::nullopt);
  EXPECT_THAT(RunList(*repo.ListRuns(9), ""), Not(HasSubstr("ROLLBACK FAILED")));
  EXPECT_EQ(repo.Hooks("r1")->size(), 2u);
  // No line twice.
  std::set<std::string> texts;
  const auto events = *repo.Events("r1");
  EXPECT_GT(events.size(), lines);
  for (const RunLogLine& line : events)
    EXPECT_TRUE(texts.insert(line.text).second || line.text.starts_with("rolling back"))
        << line.text;
}

TEST_F(RecoverTest, WhatItsCoordinatorHoldsIsLeftAlone) {
  PutRun("r1");
  const auto intent = Owe("r1", "false");
  const RecoverReport report = Recover();
  ASSERT_EQ(report.runs.size(), 1u);
  EXPECT_EQ(report.runs[0].kind, RecoveredKind::kHeld);
  EXPECT_FALSE(report.failed());
  EXPECT_EQ(repo.GetRun("r1")->state, RunState::kRunning);
}

TEST_F(RecoverTest, OnlyTheRunThatIsAsked) {
  PutRun("r1");
  PutRun("r2");
  (void)Owe("r1", "true");
  (void)Owe("r2", "true");
  options.run = "r2";
  const RecoverReport report = Recover();
  ASSERT_EQ(report.runs.size(), 1u);
  EXPECT_EQ(ListIntents(folder.path()), std::vector<std::string>{"r1"});
  EXPECT_EQ(repo.GetRun("r1")->state, RunState::kRunning);
}

TEST_F(RecoverTest, AnIntentThatCannotBeReadIsAFailureAndStays) {
  (void)Owe("r1", "true");
  std::ofstream(folder.path() + "/intents/r1.json") << "{}";
  EXPECT_TRUE(Recover().failed());
  EXPECT_THAT(said, Contains(HasSubstr("cannot be rolled back")));
  EXPECT_EQ(ListIntents(folder.path()).size(), 1u);
}

TEST_F(RecoverTest, RunsWithoutHooksAreClosedAsInterrupted) {
  PutRun("r1");
  EXPECT_FALSE(Recover().failed());
  EXPECT_EQ(repo.GetRun("r1")->state, RunState::kInterrupted);
  EXPECT_EQ(repo.GetRun("r1")->rollback, std::nullopt);
  EXPECT_EQ(repo.Events("r1")->size(), 1u);
  EXPECT_THAT(said, Contains(HasSubstr("interrupted")));
}

}  // namespace
}  // namespace plimsoll
