// The suspicion list on whole runs in virtual time: silent where nothing is wrong, and not where
// something is.
#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool Has(const StepSummary& step, SuspicionCheck check) {
  return std::any_of(step.suspicions.begin(), step.suspicions.end(),
                     [&](const Suspicion& suspicion) { return suspicion.check == check; });
}

TEST(SuspicionSim, AHealthySweepIsSuspectedOfNothing) {
  for (const std::uint64_t seed : {42u, 43u, 44u}) {
    SimOptions options = SmallRun();
    options.plan.seed = seed;
    FleetSim sim(options);
    const RunResult result = sim.Run();
    ASSERT_EQ(result.steps.size(), 3u) << result.reason;
    for (const RunStep& step : result.steps) {
      for (const Suspicion& suspicion : step.summary.suspicions) {
        ADD_FAILURE() << "seed " << seed << ", " << step.summary.plan.sessions
                      << " sessions: " << suspicion.text;
      }
    }
  }
}

TEST(SuspicionSim, ACacheThatIsOffIsNoticed) {
  SimOptions options = SmallRun();
  options.settings.sessions = {4};
  options.faults = {{.kind = FaultKind::kCacheOff}};
  FleetSim sim(options);
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 1u) << result.reason;
  EXPECT_TRUE(Has(result.steps[0].summary, SuspicionCheck::kCacheUnlikeTrace));
}

TEST(SuspicionSim, AGatewayThatHealsUnderLoadIsNoticed) {
  SimOptions options = SmallRun();
  options.bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 60}};
  // Nobody waits long, or the first step would be a lighter load, without data, and repeated.
  options.plan.failure.back_off_min = options.plan.failure.back_off_max = 10ms;
  // A third of the requests fails for as long as the first step may take.
  options.faults = {{.kind = FaultKind::kTruncate, .span = 85s, .probability = 0.3}};
  FleetSim sim(options);
  const RunResult result = sim.Run();
  ASSERT_GE(result.steps.size(), 2u) << result.reason;
  EXPECT_FALSE(Has(result.steps[0].summary, SuspicionCheck::kErrorsFell));
  EXPECT_EQ(result.steps[1].summary.plan.sessions, 6u);
  EXPECT_TRUE(Has(result.steps[1].summary, SuspicionCheck::kErrorsFell));
}

// Texts of the suspicions that a clock was set.
std::vector<std::string> ClocksSet(const RunStep& step) {
  std::vector<std::string> texts;
  for (const Suspicion& suspicion : step.summary.suspicions) {
    if (suspicion.check == SuspicionCheck::kClocksStepped) texts.push_back(suspicion.text);
  }
  return texts;
}

// Two steps; 50 s lie within the first one's measured time.
RunResult RunWith(void (*set)(FleetSim&)) {
  SimOptions options = SmallRun();
  options.settings.sessions = {4, 6};
  FleetSim sim(options);
  set(sim);
  RunResult result = sim.Run();
  EXPECT_EQ(result.steps.size(), 2u) << result.reason;
  ExpectIdentities(result);
  result.steps.resize(2);
  return result;
}

TEST(SuspicionSim, AClockThatIsSetIsNoticedAndSaysWhose) {
  const RunResult untouched = RunWith([](FleetSim&) {});
  EXPECT_THAT(ClocksSet(untouched.steps[0]), IsEmpty());

  const RunResult set = RunWith([](FleetSim& sim) {
    sim.SetAgentWallAt(50s, 1, 3s);
    sim.SetCoordinatorWallAt(50s, -2s);
  });
  EXPECT_THAT(ClocksSet(set.steps[0]),
              ElementsAre(HasSubstr("the wall clock of agent 'sim-1-2' moved +3 s"),
                          HasSubstr("the wall clock of the coordinator moved -2 s")));
  ASSERT_EQ(set.steps[0].summary.agents.size(), 2u);
  EXPECT_EQ(set.steps[0].summary.agents[0].wall_moved_ns, 0);
  EXPECT_EQ(set.steps[0].summary.agents[1].wall_moved_ns, Duration(3s).count());
  EXPECT_THAT(ClocksSet(set.steps[1]), IsEmpty()) << "they were set in the step before";
  for (std::size_t i = 0; i < 2; ++i) {
    // Durations are monotonic: what was measured is what it would have been.
    const StepSummary& step = set.steps[i].summary;
    EXPECT_EQ(step.ttft.p90_s, untouched.steps[i].summary.ttft.p90_s);
    EXPECT_EQ(step.verdict.verdict, untouched.steps[i].summary.verdict.verdict);
    EXPECT_FALSE(step.verdict.is_void);
  }
}

// A little, as time services slew, and before the measured time: at 3 s the step is being prepared.
TEST(SuspicionSim, AClockThatIsSlewedOrSetBeforeTheMeasuredTimeIsNotSuspected) {
  const RunResult result = RunWith([](FleetSim& sim) {
    sim.SetAgentWallAt(50s, 0, 90ms);
    sim.SetCoordinatorWallAt(50s, -90ms);
    sim.SetAgentWallAt(3s, 1, 1h);
  });
  EXPECT_THAT(ClocksSet(result.steps[0]), IsEmpty());
  EXPECT_EQ(result.steps[0].summary.agents.at(0).wall_moved_ns, Duration(90ms).count());
  EXPECT_EQ(result.steps[0].summary.agents.at(1).wall_moved_ns, 0);
}

}  // namespace
}  // namespace plimsoll
