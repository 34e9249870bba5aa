#include "coordinator/store/run_repo.h"

#include "coordinator/store/run_codec.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/store/stored_samples.h"
#include "tests/fakes/faulty_store.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

using testing::ARun;
using testing::AStep;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RunRepoTest : public ::testing::Test {
 protected:
  MemoryStore store_;
  RunRepo repo_{store_};
};

TEST_F(RunRepoTest, RunsAreListedLatestFirst) {
  ASSERT_TRUE(repo_.PutRun(ARun("b", 300)).ok());
  ASSERT_TRUE(repo_.PutRun(ARun("c", 100)).ok());
  ASSERT_TRUE(repo_.PutRun(ARun("a", 200)).ok());
  std::vector<std::string> ids;
  const auto found = repo_.ListRuns(2);
  ASSERT_TRUE(found.ok());
  for (const RunInfo& run : *found) ids.push_back(run.id);
  EXPECT_THAT(ids, ElementsAre("b", "a"));
  EXPECT_EQ(repo_.ListRuns(100)->size(), 3u);
}

TEST_F(RunRepoTest, ARunIsReplacedWhenItEnds) {
  RunInfo run = ARun("a", 200);
  ASSERT_TRUE(repo_.PutRun(run).ok());
  run.state = RunState::kFinished;
  run.exit_code = 1;
  ASSERT_TRUE(repo_.PutRun(run).ok());
  EXPECT_EQ(repo_.GetRun("a")->exit_code, 1);
  EXPECT_EQ(repo_.ListRuns(100)->size(), 1u);
  EXPECT_EQ(store_.synced_commits(), 2);
}

TEST_F(RunRepoTest, AnotherRunOfTheSameIdIsRefused) {
  ASSERT_TRUE(repo_.PutRun(ARun("a", 200)).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(repo_.PutRun(ARun("a", 201))));
  EXPECT_TRUE(absl::IsInvalidArgument(repo_.PutRun(ARun("a/b", 1))));
  EXPECT_TRUE(absl::IsInvalidArgument(repo_.PutRun(ARun("z", -1))));
  EXPECT_EQ(repo_.ListRuns(100)->size(), 1u);
}

TEST_F(RunRepoTest, RunsAreFoundByAnUnambiguousBeginning) {
  ASSERT_TRUE(repo_.PutRun(ARun("r-12", 1)).ok());
  ASSERT_TRUE(repo_.PutRun(ARun("r-123", 2)).ok());
  ASSERT_TRUE(repo_.PutRun(ARun("r-2", 3)).ok());
  EXPECT_EQ(repo_.FindRun("r-2")->id, "r-2");
  EXPECT_EQ(repo_.FindRun("r-12")->id, "r-12");  // Whole, though it begins another.
  EXPECT_EQ(repo_.FindRun("r-123")->id, "r-123");
  EXPECT_THAT(std::string(MessageOf(repo_.FindRun("r-").status())),
              HasSubstr("several runs begin with r-: r-12, r-123, r-2"));
  EXPECT_TRUE(absl::IsNotFound(repo_.FindRun("x").status()));
  EXPECT_TRUE(absl::IsNotFound(repo_.GetRun("r-1").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(repo_.FindRun("").status()));
}

TEST_F(RunRepoTest, StepsComeBackInOrderAndAreSynced) {
  for (const std::uint32_t step : {2u, 0u, 300u, 1u}) {
    ASSERT_TRUE(repo_.PutStep("a", AStep(step)).ok());
  }
  ASSERT_TRUE(repo_.PutStep("ab", AStep(9)).ok());
  std::vector<std::uint32_t> steps;
  const auto found = repo_.Steps("a");
  ASSERT_TRUE(found.ok());
  for (const StepRow& row : *found) steps.push_back(row.summary.plan.step);
  EXPECT_THAT(steps, ElementsAre(0u, 1u, 2u, 300u));
  EXPECT_THAT(*repo_.Steps("none"), IsEmpty());
  EXPECT_EQ(store_.synced_commits(), 5);
}

TEST_F(RunRepoTest, BatchesAreIdempotentByKeyAndOneLoggedWriteEach) {
  const keys::BatchKey key{"a", 1, 77, 1};
  const std::string bytes(10'000, 'x');
  EXPECT_EQ(*repo_.PutBatch(key, bytes), true);
  EXPECT_EQ(*repo_.PutBatch(key, "something else"), false);
  EXPECT_EQ(*repo_.PutBatch({"a", 1, 78, 1}, ""), true);  // A restarted agent.
  EXPECT_EQ(*repo_.PutBatch({"a", 0, 77, 1}, "first slot"), true);
  EXPECT_EQ(store_.commits(), 3);
  EXPECT_EQ(store_.synced_commits(), 0);
  std::vector<std::string> seen;
  ASSERT_TRUE(repo_
                  .ScanBatches("a",
                               [&](const keys::BatchKey&, std::string_view found) {
                                 seen.emplace_back(found);
                                 return absl::OkStatus();
                               })
                  .ok());
  EXPECT_THAT(seen, ElementsAre("first slot", bytes, ""));
}

TEST_F(RunRepoTest, DamagedBatchesAreDataLoss) {
  const auto ignore = [](const keys::BatchKey&, std::string_view) { return absl::OkStatus(); };
  ASSERT_TRUE(*repo_.PutBatch({"a", 1, 1, 1}, std::string(1000, 'x')));
  const std::string key = keys::Encode(keys::BatchKey{"a", 1, 1, 1});
  const std::string good = *store_.Get(key);
  for (const std::string& bad :
       {std::string("junk"), good.substr(0, good.size() - 3), std::string(), good + "x"}) {
    ASSERT_TRUE(store_.Commit({{key, bad}}, Durability::kLogged).ok());
    EXPECT_TRUE(absl::IsDataLoss(repo_.ScanBatches("a", ignore)));
  }
}

TEST_F(RunRepoTest, AFailedWriteIsReportedAndTheBatchMayComeAgain) {
  FaultyStore faulty(store_, 1);
  RunRepo repo(faulty);
  EXPECT_TRUE(absl::IsResourceExhausted(repo.PutBatch({"a", 1, 1, 1}, "x").status()));
  EXPECT_EQ(store_.size(), 0u);
  EXPECT_EQ(*repo.PutBatch({"a", 1, 1, 1}, "x"), true);
}

TEST_F(RunRepoTest, EventsKeepTheirOrder) {
  ASSERT_TRUE(repo_.PutEvent("a", {WallTime(2s), "third"}).ok());
  ASSERT_TRUE(repo_.PutEvent("a", {WallTime(1s), "first"}).ok());
  ASSERT_TRUE(repo_.PutEvent("a", {WallTime(1s), "second"}).ok());
  std::vector<std::string> texts;
  const auto found = repo_.Events("a");
  ASSERT_TRUE(found.ok());
  for (const RunLogLine& event : *found) texts.push_back(event.text);
  EXPECT_THAT(texts, ElementsAre("first", "second", "third"));
}

}  // namespace
}  // namespace plimsoll
