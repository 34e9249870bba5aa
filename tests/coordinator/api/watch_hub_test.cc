// Watching in virtual time: what a reader is sent, when, and what one that lags costs.
#include "coordinator/api/watch_hub.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plimsoll/v1/api.pb.h"
#include "tests/coordinator/api/sample_runs.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RunsRig;

// Writes down what it is sent: "run 0", "step 0", "live", "alive", "end", "cut", "end: why".
class Recorder final : public WatchSink {
 public:
  explicit Recorder(std::vector<std::string>& said) : said_(said) {}
  void Send(const v1::RunEvent& event) override {
    if (event.has_run()) said_.push_back("run " + std::to_string(event.run().steps_size()));
    if (event.has_step()) said_.push_back("step " + std::to_string(event.step().step()));
    if (event.has_live()) said_.push_back("live");
  }
  void KeepAlive() override { said_.push_back("alive"); }
  bool lagging() const override { return lags; }
  void End(const Status& status) override {
    said_.push_back(status.ok() ? "end" : "end: " + std::string(MessageOf(status)));
  }
  void Cut() override { said_.push_back("cut"); }

  bool lags = false;

 private:
  std::vector<std::string>& said_;
};

class WatchHubTest : public ::testing::Test {
 protected:
  std::shared_ptr<Recorder> Watch(const std::string& id) {
    auto recorder = std::make_shared<Recorder>(said);
    const auto added = hub.Add(id, recorder);
    EXPECT_TRUE(added.ok()) << added.status();
    last = added.value_or(0);
    return recorder;
  }
  std::vector<std::string> Take() { return std::exchange(said, {}); }

  SimScheduler scheduler;
  RunsRig rig;
  Results results{rig.Deps()};
  WatchHub hub{scheduler, results};
  std::vector<std::string> said;
  WatchHub::WatchId last = 0;
};

TEST_F(WatchHubTest, SendsTheRunThenStepsAndTheStatusEverySecondThenTheEnd) {
  rig.BeginRun("r1");
  rig.AddStep("r1", 0);
  Watch("r1");
  EXPECT_THAT(Take(), ElementsAre("run 1"));
  scheduler.Advance(2s);
  EXPECT_THAT(Take(), ElementsAre("live", "live"));
  rig.AddStep("r1", 1);
  scheduler.Advance(1s);
  EXPECT_THAT(Take(), ElementsAre("step 1", "live"));
  rig.AddStep("r1", 2);
  rig.EndRun("r1");
  scheduler.Advance(1s);
  EXPECT_THAT(Take(), ElementsAre("step 2", "run 3", "end"));
  EXPECT_EQ(hub.size(), 0u);
  EXPECT_EQ(scheduler.pending(), 0u);  // Nobody watches: nothing is read.
}

TEST_F(WatchHubTest, ShowsTheRunAgainOnceItHasPreflightsFindings) {
  rig.BeginRun("r1");
  const auto sink = Watch("r1");
  Take();
  sink->lags = true;
  RunInfo run = testing::ARun("r1", 1'800'000'000);
  run.preflight = PreflightSummary{.findings = {{FindingLevel::kWarning, "no min_tokens"}}};
  ASSERT_TRUE(rig.repo.PutRun(run).ok());
  scheduler.Advance(1s);
  EXPECT_THAT(Take(), ElementsAre());
  sink->lags = false;
  scheduler.Advance(2s);
  EXPECT_THAT(Take(), ElementsAre("run 0", "live", "live"));
  Watch("r1");  // Whoever comes later has them with the first event.
  scheduler.Advance(1s);
  EXPECT_THAT(Take(), ElementsAre("run 0", "live", "live"));
}

TEST_F(WatchHubTest, ARunThatIsOverEndsAtOnce) {
  rig.BeginRun("r1");
  rig.EndRun("r1");
  Watch("r1");
  EXPECT_THAT(Take(), ElementsAre("run 0", "end"));
  EXPECT_EQ(hub.size(), 0u);
}

TEST_F(WatchHubTest, ARunWhoseCoordinatorDiesEndsWithWhatIsKept) {
  rig.BeginRun("r1");
  Watch("r1");
  rig.live.reset();
  scheduler.Advance(1s);
  EXPECT_THAT(Take(), ElementsAre("run 0", "run 0", "end"));
}

TEST_F(WatchHubTest, AReaderThatLagsMissesStatusesAndNoStep) {
  rig.BeginRun("r1");
  const auto sink = Watch("r1");
  Take();
  sink->lags = true;
  rig.AddStep("r1", 0);
  scheduler.Advance(5s);
  rig.AddStep("r1", 1);
  scheduler.Advance(5s);
  EXPECT_THAT(Take(), ElementsAre("step 0", "step 1"));
  sink->lags = false;
  scheduler.Advance(1s);
  EXPECT_THAT(Take(), ElementsAre("live"));
}

TEST_F(WatchHubTest, AReaderThatTakesNothingIsCut) {
  rig.BeginRun("r1");
  const auto stuck = Watch("r1");
  Take();
  stuck->lags = true;
  scheduler.Advance(WatchHub::kLagMax);
  EXPECT_EQ(hub.size(), 1u);
  scheduler.Advance(3s);
  EXPECT_THAT(Take(), ElementsAre("cut"));
  EXPECT_EQ(hub.size(), 0u);
}

TEST_F(WatchHubTest, WhereNothingIsKnownOfTheRunASignOfLifeIsSent) {
  rig.BeginRun("r1");
  rig.live->status.reset();
  Watch("r1");
  Take();
  scheduler.Advance(25s);
  EXPECT_THAT(Take(), ElementsAre("alive", "alive"));
}

TEST_F(WatchHubTest, AStoreThatFailsForAMomentIsTriedAgain) {
  rig.BeginRun("r1");
  Watch("r1");
  Take();
  rig.broken = absl::UnavailableError("the disk is away");
  scheduler.Advance(3s);
  EXPECT_THAT(Take(), ElementsAre());
  rig.broken = absl::OkStatus();
  scheduler.Advance(1s);
  EXPECT_THAT(Take(), ElementsAre("live"));
  rig.broken = absl::UnavailableError("the disk is away");
  scheduler.Advance(10s);
  EXPECT_THAT(Take(), ElementsAre("end: the disk is away"));
}

TEST_F(WatchHubTest, ManyReadersCostOneLookAndNotTooManyAreTaken) {
  rig.BeginRun("r1");
  for (std::size_t i = 0; i < WatchHub::kWatchesMax; ++i) Watch("r1");
  const auto refused = hub.Add("r1", std::make_shared<Recorder>(said));
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status()));
  Take();
  rig.reads = 0;
  scheduler.Advance(1s);
  EXPECT_EQ(rig.reads, 1);
  EXPECT_EQ(Take().size(), WatchHub::kWatchesMax);
}

TEST_F(WatchHubTest, AnUnknownRunIsRefusedWithoutACall) {
  const auto added = hub.Add("nope", std::make_shared<Recorder>(said));
  EXPECT_TRUE(absl::IsNotFound(added.status()));
  EXPECT_THAT(Take(), ElementsAre());
}

TEST_F(WatchHubTest, WhoHasGoneHearsNothing) {
  rig.BeginRun("r1");
  Watch("r1");
  Take();
  hub.Remove(last);
  hub.Remove(last);
  scheduler.Advance(5s);
  EXPECT_THAT(Take(), ElementsAre());
}

TEST_F(WatchHubTest, TheEndOfTheServerIsSaidAfterTheLastState) {
  rig.BeginRun("r1");
  Watch("r1");
  Take();
  hub.EndAll(absl::UnavailableError("the server has ended"));
  EXPECT_THAT(Take(), ElementsAre("live", "end: the server has ended"));
  Watch("r1");
  Take();
  rig.AddStep("r1", 0);
  rig.EndRun("r1");
  hub.EndAll(absl::UnavailableError("the server has ended"));
  EXPECT_THAT(Take(), ElementsAre("step 0", "run 1", "end"));
}

}  // namespace
}  // namespace plimsoll
