// Whole runs in virtual time whose steps are judged from servers' pages: the driver's part of it,
// and the rows of the design's table of faults that are about pages, sweeps' ends and drains.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/sim_options.h"
#include "tests/sim/sim_servers.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Two steps; five blocks of 20 s, so that a P50 is decided from a hundred calls.
SimOptions Served(SimServers& servers, JudgeMode mode) {
  SimOptions o = SmallRun();
  o.settings.sessions = {4, 6};
  o.settings.target = 6;
  o.settings.step.measure = 100s;
  o.settings.step.block = 20s;
  o.settings.back_limit = 20s;
  o.engine.noise.drift_sigma = 0;
  o.bar.limits[0].quantile = 0.5;
  o.bar.limits[1].quantile = 0.5;
  o.servers = &servers;
  o.server_rules.mode = mode;
  return o;
}

const ServerSummary& ServerOf(const RunResult& result, std::size_t step) {
  static const ServerSummary kNone;
  if (step >= result.steps.size() || !result.steps[step].summary.server) {
    ADD_FAILURE() << "step " << step << " has no servers' side";
    return kNone;
  }
  return *result.steps[step].summary.server;
}

TEST(ServerSim, ClientAndServerAgreeOnAHealthyDeploymentInEveryMode) {
  for (const JudgeMode mode : {JudgeMode::kClient, JudgeMode::kServer, JudgeMode::kBoth}) {
    SimServers servers;
    FleetSim sim(Served(servers, mode));
    const RunResult result = sim.Run();
    EXPECT_EQ(result.code, ExitCode::kHeld) << Name(mode) << ": " << result.reason;
    ASSERT_EQ(result.steps.size(), 2u);
    for (const RunStep& step : result.steps) {
      const ServerSummary& server = *step.summary.server;
      EXPECT_EQ(server.mode, mode);
      EXPECT_EQ(server.parts.size(), 9u);
      for (const SourcePart& part : server.parts) {
        if (part.source == PartSource::kGateway && part.part < 2) continue;   // Envoy has none.
        if (part.source == PartSource::kEngines && part.part == 2) continue;  // vLLM has none.
        EXPECT_EQ(part.verdict.verdict, Verdict::kPass)
            << Name(part.source) << ": " << part.verdict.reason;
      }
      EXPECT_TRUE(server.outcomes.empty());
      EXPECT_TRUE(server.findings.empty()) << server.findings.front();
      for (const Suspicion& one : step.summary.suspicions) {
        EXPECT_NE(one.check, SuspicionCheck::kCountsDisagree) << one.text;
      }
    }
    ASSERT_TRUE(result.drain.has_value());
    EXPECT_EQ(result.drain->state, DrainState::kBack) << result.drain->lines.front();
    EXPECT_THAT(sim.said(), Contains(HasSubstr("the deployment is back where it was")));
  }
}

TEST(ServerSim, JudgeServerFailsWhereTheEngineSaysSoAndBothIsTooClose) {
  for (const JudgeMode mode : {JudgeMode::kClient, JudgeMode::kServer, JudgeMode::kBoth}) {
    SimServers servers;
    servers.ttft_factor = 1000;
    FleetSim sim(Served(servers, mode));
    const RunResult result = sim.Run();
    ASSERT_FALSE(result.steps.empty());
    const Verdict expected = mode == JudgeMode::kClient   ? Verdict::kPass
                             : mode == JudgeMode::kServer ? Verdict::kFail
                                                          : Verdict::kTooClose;
    EXPECT_EQ(result.steps[0].summary.verdict.parts[0].verdict, expected)
        << Name(mode) << ": " << result.steps[0].summary.verdict.parts[0].reason;
    if (mode == JudgeMode::kServer) {
      EXPECT_EQ(result.code, ExitCode::kMissed) << result.reason;
    }
  }
}

TEST(ServerSim, AMissingPageIsNoDataOfTheServersAndTheClientsStandsInBoth) {
  for (const JudgeMode mode : {JudgeMode::kServer, JudgeMode::kBoth}) {
    SimServers servers;
    servers.each_second = [&](Duration now) { servers.engine.down = now > 60s; };
    FleetSim sim(Served(servers, mode));
    const RunResult result = sim.Run();
    EXPECT_THAT(ServerOf(result, 0).not_got,
                Contains(testing::Field(&NotGotSignal::missing, Missing::kNoPage)));
    if (mode == JudgeMode::kBoth) {
      EXPECT_EQ(result.code, ExitCode::kHeld) << result.reason;
    } else {
      EXPECT_EQ(result.code, ExitCode::kNoData) << result.reason;
      EXPECT_THAT(result.steps[0].summary.verdict.reasons,
                  Contains(HasSubstr("the page could not be read (connection refused)")));
    }
    // The engine never answered again: nobody knows whether it is back, and the code stays.
    ASSERT_TRUE(result.drain.has_value());
    EXPECT_EQ(result.drain->state, DrainState::kUnknown);
    EXPECT_THAT(sim.said(), Contains(HasSubstr("warning: whether the deployment is back")));
  }
}

TEST(ServerSim, ARestartIsAnOutcomeOfItsStepAndTheNextOneIsJudged) {
  SimServers servers;
  bool restarted = false;
  servers.each_second = [&](Duration now) {
    if (now > 60s && !std::exchange(restarted, true)) servers.engine.Restart();
  };
  FleetSim sim(Served(servers, JudgeMode::kServer));
  const RunResult result = sim.Run();
  ASSERT_GE(result.steps.size(), 2u);
  ASSERT_EQ(ServerOf(result, 0).outcomes.size(), 1u);
  EXPECT_EQ(ServerOf(result, 0).outcomes[0].continuity, Continuity::kRestarted);
  EXPECT_EQ(result.steps[0].summary.verdict.verdict, Verdict::kNoData);
  EXPECT_EQ(result.steps[1].summary.origin.kind, StepKind::kRepeat);
  EXPECT_EQ(result.steps[1].summary.verdict.verdict, Verdict::kPass)
      << result.steps[1].summary.verdict.reasons.front();
  EXPECT_TRUE(ServerOf(result, 1).outcomes.empty());
}

TEST(ServerSim, AFullKvCacheEndsTheSweepAndTheTargetDecidesTheCode) {
  SimServers servers;
  servers.kv_at_least = 0.97;
  SimOptions options = Served(servers, JudgeMode::kBoth);
  options.settings.target = 4;
  FleetSim sim(options);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << result.reason;
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_THAT(result.reason, HasSubstr("the KV cache is full"));
  EXPECT_EQ(ServerOf(result, 0).ends_sweep, SweepEvent::kKvCacheFull);
  EXPECT_THAT(ServerOf(result, 0).ends_why, HasSubstr("at least 95%"));
  EXPECT_EQ(StoppedBy(result.history), "KV cache");
}

TEST(ServerSim, GaugesThatNeverReturnAreSaidAndTheCodeIsTheTargets) {
  SimServers servers;
  servers.each_second = [&](Duration now) { servers.running_more = now > 60s ? 3 : 0; };
  FleetSim sim(Served(servers, JudgeMode::kBoth));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << result.reason;
  ASSERT_TRUE(result.drain.has_value());
  EXPECT_EQ(result.drain->state, DrainState::kNotBack);
  EXPECT_EQ(result.drain->orphaned, 3);
  EXPECT_GE(result.drain->took, 15s);
  EXPECT_THAT(sim.said(), Contains(AllOf(HasSubstr("warning: the deployment is NOT back"),
                                         HasSubstr("running 3, before the run 0"),
                                         HasSubstr("no counter moves"))));
  EXPECT_THAT(ServerOf(result, 1).findings, Contains(HasSubstr("work that nobody waits for")));
}

TEST(ServerSim, CountsThatDisagreeAreSuspicious) {
  SimServers servers;
  servers.each_second = [&](Duration) { ++servers.engine.finished; };  // Another caller.
  FleetSim sim(Served(servers, JudgeMode::kBoth));
  const RunResult result = sim.Run();
  ASSERT_FALSE(result.steps.empty());
  EXPECT_THAT(result.steps[0].summary.suspicions,
              Contains(testing::Field(&Suspicion::text, HasSubstr("calls answered, the server"))));
}

TEST(ServerSim, RefusalsFailAtTheGatewayAndAreInvisibleToTheEngine) {
  SimServers servers;
  SimOptions options = Served(servers, JudgeMode::kServer);
  Rng rng(7);
  options.target.fault = [rng](MonoTime) mutable -> std::optional<EngineTransportOptions::Fault> {
    if (!rng.Chance(0.3)) return std::nullopt;
    return EngineTransportOptions::Fault{.outcome = Outcome::kRefused, .status = 429};
  };
  FleetSim sim(options);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << result.reason;
  EXPECT_THAT(result.steps[0].summary.verdict.reasons,
              Contains(AllOf(HasSubstr("errors: gateway"), HasSubstr("error status"))));
  for (const SourcePart& part : ServerOf(result, 0).parts) {
    if (part.source == PartSource::kEngines && part.part == 2) {
      EXPECT_EQ(part.verdict.verdict, Verdict::kNoData);
    }
  }
}

TEST(ServerSim, AStopWhileTheDeploymentIsAwaitedEndsAtOnce) {
  SimServers servers;
  servers.running_more = 0;
  servers.each_second = [&](Duration now) { servers.running_more = now > 60s ? 3 : 0; };
  SimOptions options = Served(servers, JudgeMode::kBoth);
  options.settings.sessions = {4};
  options.settings.target = 4;
  options.settings.back_limit = 300s;
  FleetSim sim(options);
  MonoTime settling{};
  sim.Watch([&](const LiveStatus& status) {
    if (status.phase != RunPhase::kSettle || settling != MonoTime{}) return;
    settling = sim.scheduler().Now();
    EXPECT_GT(status.run_left, 200s);
    sim.StopAt(settling - MonoTime{} + 2s, 1);
  });
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kStopped);
  EXPECT_LT(sim.scheduler().Now() - settling, 10s);
  EXPECT_EQ(result.steps.size(), 1u);
  EXPECT_TRUE(result.drain.has_value());
}

TEST(ServerSim, AStepThatWaitsForPagesIsKeptWhenTheRunIsLeft) {
  SimServers servers;
  servers.deaf = true;
  SimOptions options = Served(servers, JudgeMode::kBoth);
  FleetSim sim(options);
  // One ask after preflight, one at each edge of the first step's blocks, then that for its end.
  const int at_end = static_cast<int>(options.settings.step.blocks()) + 3;
  servers.on_ask = [&](int n) {
    if (n == at_end) sim.StopAt(sim.scheduler().Now() - MonoTime{} + 1s, 3);
  };
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kStopped);
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_EQ(result.steps[0].summary.verdict.verdict, Verdict::kPass);
  EXPECT_FALSE(result.steps[0].summary.broken_off_after.has_value());
  EXPECT_FALSE(result.drain.has_value());
}

TEST(ServerSim, TargetsThatAreNeverAskedInTimeAreNotWaitedForLong) {
  SimServers servers;
  servers.deaf = true;
  FleetSim sim(Served(servers, JudgeMode::kBoth));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << result.reason;
  EXPECT_EQ(result.steps.size(), 2u);
}

}  // namespace
}  // namespace plimsoll
