// Failing early in virtual time: what it saves where the case is clear, and how seldom it fails a
// step whose truth lies inside the bar.
#include <cstdio>
#include <optional>
#include <string>

#include <gmock/gmock.h>

#include "gtest/gtest.h"
#include "tests/sim/fleet_sim.h"
#include "tests/sim/run_words.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

// One step with the times that a window would give it.
SimOptions OneStep(std::uint32_t lanes, std::uint64_t seed) {
  SimOptions o = SmallRun();
  o.settings.sessions = {lanes};
  o.settings.step = {
      .warm_up = 60s, .measure = 300s, .block = 60s, .drain_limit = 60s, .prime_limit = 20s};
  o.engine.prefill_tokens_per_s = 20'000;
  o.engine.decode_tokens_per_s = 60;
  o.network.through_codec = false;
  o.plan.seed = seed;
  o.engine_seeds = {.path = seed, .calls = seed};
  o.bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 1e6},
                  {.metric = Metric::kErrors, .value = 0.02}};
  return o;
}

double TtftP90(const SimOptions& o) {
  FleetSim sim(o);
  const RunResult result = sim.Run();
  return result.steps.at(0).summary.ttft.p90_s.value.value_or(0);
}

TEST(EarlyFailSim, AtThreeTimesTheBarItSavesAThirdOfTheStepAndTheBooksAgree) {
  constexpr int kSeeds = 3;
  double saved_in_all = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SimOptions o = OneStep(40, seed);
    o.bar.limits[0].value = TtftP90(o) / 3;
    FleetSim whole(o);
    const RunResult slow = whole.Run();
    ASSERT_EQ(slow.code, ExitCode::kMissed) << Explain(whole, slow);
    o.settings.fail_early = true;
    FleetSim sim(o);
    const RunResult result = sim.Run();
    EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
    ASSERT_EQ(result.steps.size(), 1u);
    const StepSummary& step = result.steps[0].summary;
    if (!step.origin.failed_early_after) {  // The path came too near the bar at first.
      std::printf("seed %llu: not failed early\n", static_cast<unsigned long long>(seed));
      continue;
    }
    EXPECT_THAT(Part(step, Metric::kTtft).reason, HasSubstr(" of 5 blocks, P90 of "));
    EXPECT_THAT(result.steps[0].note, HasSubstr("are not counted as failed"));
    EXPECT_EQ(Part(step, Metric::kErrors).verdict, Verdict::kNoData) << "who was cut did not fail";
    ExpectIdentities(result);
    EXPECT_GE(step.verdict.offered_share, 0.99);
    // Warm-up, measured time and cool-down; both runs prime and stop alike.
    const auto time = [](const FleetSim& rig) {
      return ToSeconds(const_cast<FleetSim&>(rig).scheduler().Now() - MonoTime{});
    };
    const double saved = 1 - time(sim) / time(whole);
    std::printf("seed %llu: after %u blocks, %.0f%% of the run's time saved\n",
                static_cast<unsigned long long>(seed), *step.origin.failed_early_after,
                saved * 100);
    // An engine that drifts may be near the bar in the first minutes and far beyond it later.
    EXPECT_GE(saved, 0.15);
    saved_in_all += saved;
  }
  EXPECT_GE(saved_in_all / kSeeds, 0.3);
}

TEST(EarlyFailSim, RefusalsFailEarlyOnErrorsAlone) {
  SimOptions o = OneStep(15, 3);
  o.settings.fail_early = true;
  Rng rng(5);
  o.target.fault = [&rng](MonoTime) -> std::optional<EngineTransportOptions::Fault> {
    if (!rng.Chance(0.2)) return std::nullopt;
    return EngineTransportOptions::Fault{.outcome = Outcome::kRefused, .status = 429};
  };
  FleetSim sim(o);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_TRUE(result.steps[0].summary.origin.failed_early_after.has_value());
  EXPECT_THAT(Part(result.steps[0].summary, Metric::kErrors).reason, HasSubstr("blocks, "));
  ExpectIdentities(result);
}

// Between the look and the end of the measured time, two seconds later.
TEST(EarlyFailSim, AStepOfWhichAnAgentDiesAfterTheLookIsRepeatedWhole) {
  SimOptions o = OneStep(40, 3);
  o.bar.limits[0].value = TtftP90(o) / 3;
  o.settings.fail_early = true;
  std::optional<Duration> looked;
  FleetSim probe(o);
  probe.Watch([&](const LiveStatus&) {
    const auto& said = probe.said();
    const bool decided = !said.empty() && said.back().starts_with("the step is decided");
    if (decided && !looked) looked = probe.scheduler().Now() - MonoTime{};
  });
  probe.Run();
  ASSERT_TRUE(looked.has_value());
  FleetSim sim(o);
  sim.KillAgentAt(*looked + 100ms, 1);
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 2u) << Explain(sim, result);
  EXPECT_TRUE(result.steps[0].summary.origin.failed_early_after.has_value());
  EXPECT_TRUE(result.steps[0].summary.verdict.is_void);
  EXPECT_EQ(result.steps[1].summary.origin.kind, StepKind::kRepeat);
  EXPECT_FALSE(result.steps[1].summary.origin.failed_early_after.has_value());
  EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
}

// On each engine path the limit is just above that path's own P90, over replicates with other
// sessions and other noise: every early fail of it is wrong.
TEST(EarlyFailSim, AStepInsideTheBarIsHardlyEverFailed) {
  constexpr int kPaths = 4;
  constexpr int kReplicates = 6;
  int runs = 0;
  int failed = 0;
  for (std::uint64_t path = 1; path <= kPaths; ++path) {
    const auto replicate = [&](std::uint64_t n) {
      SimOptions o = OneStep(15, 1000 * path + n);
      o.engine_seeds.path = path;
      return o;
    };
    double sum = 0;
    for (std::uint64_t n = 0; n < kReplicates; ++n) sum += TtftP90(replicate(n));
    for (std::uint64_t n = 100; n < 100 + kReplicates; ++n) {
      SimOptions o = replicate(n);
      o.settings.fail_early = true;
      o.bar.limits[0].value = 1.02 * sum / kReplicates;
      FleetSim sim(o);
      const RunResult result = sim.Run();
      ++runs;
      const bool early = result.steps.at(0).summary.origin.failed_early_after.has_value();
      failed += early ? 1 : 0;
      if (early) std::printf("path %d, replicate %d failed early\n", int(path), int(n));
    }
  }
  std::printf("%d of %d steps inside the bar failed early\n", failed, runs);
  EXPECT_LE(failed, 1 + runs / 50);
}

}  // namespace
}  // namespace plimsoll
