// The suspicion list on whole runs in virtual time: silent where nothing is wrong, and not where
// something is.
#include <algorithm>

#include "gtest/gtest.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

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

}  // namespace
}  // namespace plimsoll
