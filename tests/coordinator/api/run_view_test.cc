// Reading a run for the API, and how runs read as text.
#include "coordinator/api/run_view.h"

#include "coordinator/api/results.h"
#include "coordinator/report/run_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/api/sample_runs.h"

namespace plimsoll {
namespace {

using testing::ARun;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RunsRig;

TEST(RunView, HoldsTheRunItsStepsAndItsLog) {
  RunsRig rig;
  rig.BeginRun("r1");
  rig.AddStep("r1", 0);
  ASSERT_TRUE(rig.repo.PutEvent("r1", {.at = WallTime(1s), .text = "step 1"}).ok());
  const auto view = Results(rig.Deps()).Get("r");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->info.id, "r1");
  EXPECT_EQ(view->model.model, "glm-5.3");
  EXPECT_EQ(view->model.target, 15u);
  EXPECT_EQ(view->model.bar.limits.size(), 3u);
  ASSERT_EQ(view->model.steps.size(), 1u);
  EXPECT_EQ(view->log.at(0).text, "step 1");
  EXPECT_TRUE(view->live);
  EXPECT_EQ(view->status->sessions, 15u);
}

TEST(RunView, ARunWhoseCoordinatorDiedIsNotLive) {
  RunsRig rig;
  rig.BeginRun("r1");
  rig.live.reset();
  const auto view = Results(rig.Deps()).Get("r1");
  ASSERT_TRUE(view.ok());
  EXPECT_FALSE(view->live);
  EXPECT_THAT(RunText(*view), HasSubstr("broken off: its coordinator died"));
}

TEST(RunView, ARunningRunsTextSaysHowItLooksNow) {
  RunsRig rig;
  rig.BeginRun("r1");
  const auto view = Results(rig.Deps()).Get("r1");
  ASSERT_TRUE(view.ok());
  EXPECT_EQ(
      RunText(*view),
      "no step is judged yet\n\n"
      "now        step 2 of 4: 15 sessions, measuring, 18s of 1m; 14 of 15 lanes, 13 in "
      "flight; TTFT P90\n"
      "           2.5 s (limit 5.3 s, n 118); interactivity P90 30.5 tok/s (limit 10 tok/s, n "
      "110); errors\n"
      "           2.50% (limit 2%, n 120): 3 refused; 1 of 2 agents; 1m35s so far, at most "
      "10m to go\n"
      "running\n");
  rig.live->status->step.reset();
  rig.live->status->phase = RunPhase::kGather;
  EXPECT_THAT(RunText(*Results(rig.Deps()).Get("r1")),
              HasSubstr("now        waiting for agents: 1 of 2 are here; 1 of 2 agents; 1m35s"));
  rig.live->status.reset();
  EXPECT_THAT(
      RunText(*Results(rig.Deps()).Get("r1")),
      HasSubstr("now        another process runs it: this is what is stored so far\nrunning"));
  rig.EndRun("r1");
  EXPECT_THAT(RunText(*Results(rig.Deps()).Get("r1")), Not(HasSubstr("now  ")));
}

TEST(RunView, AnUnknownIdNamesTheLatestRuns) {
  RunsRig rig;
  EXPECT_THAT(std::string(Results(rig.Deps()).Get("x").status().message()),
              HasSubstr("it keeps no run yet"));
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(rig.repo.PutRun(ARun("run-" + std::to_string(i), i)).ok());
  }
  const Status status = Results(rig.Deps()).Get("x").status();
  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("the latest are run-5, run-4, run-3"));
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("run-2")));
}

TEST(RunView, AScenarioOfAnotherVersionLeavesItsRunReadable) {
  RunsRig rig;
  RunInfo run = ARun("r1", 5, RunState::kFinished);
  run.scenario_text = "name: x\nfrom_the_future: 1\n";
  ASSERT_TRUE(rig.repo.PutRun(run).ok());
  const auto view = Results(rig.Deps()).Get("r1");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->model.target_url, "");
  EXPECT_THAT(view->model.notes, Contains(HasSubstr("from_the_future")));
}

TEST(Results, ReadsAgainWhatAnotherProcessReplaced) {
  RunsRig rig;
  rig.BeginRun("r1");
  ResultsDeps deps = rig.Deps();
  std::vector<Freshness> asked;
  deps.repo = [&](Freshness freshness) -> StatusOr<const RunRepo*> {
    asked.push_back(freshness);
    if (freshness == Freshness::kRecent) return absl::UnavailableError("a file has gone");
    return &rig.repo;
  };
  EXPECT_TRUE(Results(deps).Get("r1").ok());
  EXPECT_EQ(asked, (std::vector{Freshness::kRecent, Freshness::kNow}));
  asked.clear();
  EXPECT_TRUE(absl::IsNotFound(Results(deps).Get("r2").status()));
}

TEST(RunList, SaysHowEachEnded) {
  EXPECT_EQ(RunList({}, ""), "no runs\n");
  const std::string list = RunList(
      {ARun("c", 1'800'000'002), ARun("b", 1'800'000'001), ARun("a", 0, RunState::kFinished)}, "c");
  EXPECT_EQ(list,
            "c  2027-01-15 08:00:02 UTC  running\n"
            "b  2027-01-15 08:00:01 UTC  broken off: its coordinator died\n"
            "a  1970-01-01 00:00:00 UTC  finished, exit 1\n"
            "    10 sessions hold; 15 do not\n");
}

}  // namespace
}  // namespace plimsoll
