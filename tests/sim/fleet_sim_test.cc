// Whole runs in virtual time: what the rig says of a healthy engine, of faults, of lost agents.
#include "tests/sim/fleet_sim.h"

#include <set>

#include <fmt/format.h>

#include "common/base/rng.h"
#include "common/corpus/synth.h"
#include "common/plan/lanes.h"
#include "gtest/gtest.h"
#include "tests/sim/run_words.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

using Fault = EngineTransportOptions::Fault;

TEST(FleetSim, AHealthyEngineHoldsEveryStep) {
  FleetSim sim(SmallRun());
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  EXPECT_EQ(result.steps.size(), 3u) << Explain(sim, result);
  ExpectIdentities(result);
}

TEST(FleetSim, RoomAndClocksOfTheFleetAreFindingsBeforeTheFirstStep) {
  for (const bool far : {false, true}) {
    SimOptions options = SmallRun();
    if (far) options.network.delay_min = 12ms;
    if (far) options.network.delay_max = 16ms;
    FleetSim sim(std::move(options));
    sim.Run();
    ASSERT_EQ(sim.found().size(), 2u) << "each once, however many steps";
    EXPECT_EQ(sim.found()[0].level, FindingLevel::kOk) << sim.found()[0].text;
    const Finding& clocks = sim.found()[1];
    EXPECT_EQ(clocks.text.substr(0, 8), "clocks: ");
    EXPECT_EQ(clocks.level, far ? FindingLevel::kWarning : FindingLevel::kOk) << clocks.text;
  }
}

TEST(FleetSim, TheSameSeedGivesTheSameRunTwice) {
  const auto records = [] {
    FleetSim sim(SmallRun());
    sim.Run();
    return sim.records();
  };
  EXPECT_EQ(records(), records());
}

TEST(FleetSim, PreflightBlocksWithExit4) {
  SimOptions options = SmallRun();
  options.preflight = absl::FailedPreconditionError("the gateway refuses calls (HTTP 429)");
  FleetSim sim(std::move(options));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kCouldNotRun);
  EXPECT_TRUE(result.steps.empty());
  EXPECT_NE(result.reason.find("429"), std::string::npos) << result.reason;
}

TEST(FleetSim, APlanThatAnAgentCannotHoldIsRefusedBeforeItsFirstStep) {
  SimOptions options = SmallRun();
  options.agent_descriptors = 66;  // Enough for two lanes.
  FleetSim sim(std::move(options));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kCouldNotRun) << Explain(sim, result);
  EXPECT_TRUE(result.steps.empty());
  EXPECT_TRUE(sim.records().empty()) << "nothing was sent";
  EXPECT_NE(result.reason.find("descriptors, and it may open 66"), std::string::npos)
      << result.reason;
}

// Sessions with one request in flight for 1 s, three for 2 s, two for 1 s, one for 6 s: four lanes
// are expected to have 6 + 3 · sqrt(4 · 0.65), so 11, and at most 12.
std::shared_ptr<const Corpus> FansOut() {
  Corpus corpus;
  corpus.models = {"m"};
  for (const Tier tier : {Tier::kHeavy, Tier::kLight}) {
    Session s;
    s.id = "fans";
    s.tier = tier;
    s.streams = {
        {}, {.parent_call = 0}, {.parent_call = 0}, {.parent_call = 0}, {.parent_call = 1}};
    std::uint32_t stream = 0;
    for (const std::uint32_t service_ms : {1000, 2000, 9000, 2000, 1000}) {
      s.calls.push_back(
          {.stream = stream++, .tokens_in = 100, .tokens_out = 5, .service_ms = service_ms});
    }
    corpus.sessions.push_back(std::move(s));
  }
  return std::make_shared<const Corpus>(std::move(corpus));
}

TEST(FleetSim, LanesThatFanOutNeedRoomForWhatIsExpectedAndAWarningBelowTheirPeaks) {
  for (const std::uint64_t descriptors : {64 + 10, 64 + 11, 64 + 12}) {
    SCOPED_TRACE(descriptors);
    SimOptions options = SmallRun();
    options.corpus = FansOut();
    options.agent_descriptors = descriptors;
    FleetSim sim(std::move(options));
    const RunResult result = sim.Run();
    EXPECT_EQ(result.code == ExitCode::kCouldNotRun, descriptors == 74) << Explain(sim, result);
    const bool warned = Explain(sim, result).find("its busiest at once: 4 lanes with up to 12") !=
                        std::string::npos;
    EXPECT_EQ(warned, descriptors == 75) << Explain(sim, result);
  }
}

// Faults that begin in the middle of the first step's measured time.
struct FaultCase {
  const char* name;
  Outcome outcome;
  std::uint16_t status;
};
class MidStepFault : public ::testing::TestWithParam<FaultCase> {};

TEST_P(MidStepFault, FailsTheStepOnErrorsAndNeverPassesOnSpeed) {
  SimOptions options = SmallRun();
  const MonoTime from = MonoTime{} + 50s;  // Start, priming and 10 s of warm-up take about 15 s.
  options.target.fault = [from](MonoTime now) -> std::optional<Fault> {
    if (now < from) return std::nullopt;
    return Fault{.outcome = GetParam().outcome, .status = GetParam().status};
  };
  FleetSim sim(std::move(options));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
  ASSERT_EQ(result.steps.size(), 1u);
  const RunStep& step = result.steps[0];
  EXPECT_EQ(step.summary.verdict.verdict, Verdict::kFail);
  EXPECT_EQ(Part(step.summary, Metric::kErrors).verdict, Verdict::kFail);
  EXPECT_EQ(Part(step.summary, Metric::kTtft).verdict, Verdict::kNoData);
  EXPECT_LT(step.summary.verdict.sent_share, 0.95);
  EXPECT_GT(step.summary.errors.unsent, 0u);
  ExpectIdentities(result);
}

INSTANTIATE_TEST_SUITE_P(Faults, MidStepFault,
                         ::testing::Values(FaultCase{"refused", Outcome::kRefused, 429},
                                           FaultCase{"http_error", Outcome::kHttpError, 500},
                                           FaultCase{"stream_error", Outcome::kStreamError, 200},
                                           FaultCase{"truncated", Outcome::kTruncated, 200},
                                           FaultCase{"connect_error", Outcome::kConnectError, 0},
                                           FaultCase{"context_overflow", Outcome::kContextOverflow,
                                                     400}),
                         [](const auto& fault) { return fault.param.name; });

TEST(FleetSim, AfterARefusalALaneIsSilentForRetryAfterOrASecond) {
  for (const Duration retry_after : {Duration(-1), Duration(200ms), Duration(5s)}) {
    SimOptions options = SmallRun();
    Rng rng(17);
    options.target.fault = [&rng, retry_after](MonoTime) -> std::optional<Fault> {
      if (!rng.Chance(0.1)) return std::nullopt;
      return Fault{.retry_after = retry_after};
    };
    FleetSim sim(std::move(options));
    const RunResult result = sim.Run();
    const StepNanos silence = std::max<Duration>(retry_after, 1s).count();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<CallRecord>> by_lane;
    for (const CallRecord& r : sim.records()) by_lane[{r.step, r.lane}].push_back(r);
    std::size_t refusals = 0;
    for (const auto& [lane, records] : by_lane) {
      for (const CallRecord& refusal : records) {
        if (refusal.outcome != Outcome::kRefused) continue;
        ++refusals;
        for (const CallRecord& r : records) {
          EXPECT_FALSE(r.sent > refusal.end && r.sent < refusal.end + silence)
              << "lane " << lane.second << " sent " << r.sent - refusal.end << " ns after";
        }
      }
    }
    EXPECT_GT(refusals, 20u);
    ExpectIdentities(result);
  }
}

TEST(FleetSim, AKilledAgentMakesNoDataIsStartedAgainAndTheStepIsRepeatedOnce) {
  FleetSim sim(SmallRun());
  sim.KillAgentAt(45s, 1);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  ASSERT_EQ(result.steps.size(), 4u);
  EXPECT_TRUE(result.steps[0].summary.verdict.is_void);
  EXPECT_EQ(result.steps[0].summary.verdict.verdict, Verdict::kNoData);
  EXPECT_EQ(result.steps[1].summary.plan.sessions, result.steps[0].summary.plan.sessions);
  EXPECT_FALSE(result.steps[1].note.empty());
  // The loss ended the step before anybody had told of it: that is unknown, of both.
  const StepSummary& lost = result.steps[0].summary;
  ASSERT_EQ(lost.agents.size(), 2u);
  EXPECT_FALSE(lost.agents[0].lost);
  EXPECT_TRUE(lost.agents[0].no_tally);
  EXPECT_TRUE(lost.agents[1].lost);
  EXPECT_FALSE(HasTallies(lost));
  EXPECT_TRUE(HasTallies(result.steps[1].summary));
  EXPECT_EQ(sim.agents_started(), 3u);
  ExpectIdentities(result);
  // The lanes of the new agent never send a prompt of the lost plays again.
  std::map<std::uint32_t, std::set<std::uint32_t>> plays;
  for (const CallRecord& r : sim.records()) {
    if (r.step > 0) plays[r.lane].insert(r.play);
  }
  bool restarted = false;
  for (const auto& [lane, numbers] : plays) restarted |= *numbers.begin() >= (1u << 20);
  EXPECT_TRUE(restarted);
}

TEST(FleetSim, AnAgentKilledInTheRepeatTooEndsTheSweepWithNoData) {
  FleetSim sim(SmallRun());
  sim.KillAgentAt(45s, 1);
  sim.KillAgentAt(100s, 0);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kNoData) << Explain(sim, result);
  EXPECT_EQ(result.steps.size(), 2u);
}

TEST(FleetSim, ASilentAgentIsLostAfterFifteenSeconds) {
  FleetSim sim(SmallRun());
  sim.SilenceAgentAt(45s, 0);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  ASSERT_GE(result.steps.size(), 2u);
  EXPECT_TRUE(result.steps[0].summary.verdict.is_void);
}

TEST(FleetSim, AgentsThatAStalledCoordinatorLostAreStartedAgainAndTheStepIsRepeated) {
  for (const Duration stall : {Duration(16s), Duration(17s), Duration(22s), Duration(30s)}) {
    SCOPED_TRACE(ToSeconds(stall));
    FleetSim sim(SmallRun());
    sim.StallCoordinatorAt(45s, stall);
    const RunResult result = sim.Run();
    EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
    ASSERT_EQ(result.steps.size(), 4u) << Explain(sim, result);
    EXPECT_TRUE(result.steps[0].summary.verdict.is_void);
    EXPECT_FALSE(result.steps[1].summary.verdict.is_void);
    EXPECT_FALSE(result.steps[1].note.empty());
    EXPECT_EQ(sim.agents_started(), 4u) << "both left, and both were started again";
    ExpectIdentities(result);
  }
}

TEST(FleetSim, AgentsOutliveAShortStallOfTheCoordinator) {
  FleetSim sim(SmallRun());
  sim.StallCoordinatorAt(45s, 8s);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  EXPECT_EQ(result.steps.size(), 3u);
  EXPECT_EQ(sim.agents_started(), 2u);
  ExpectIdentities(result);
}

TEST(FleetSim, LostBatchesAreSentAgainAndNothingIsCountedTwice) {
  SimOptions options = SmallRun();
  options.network.batch_loss = 0.2;
  FleetSim sim(std::move(options));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  ExpectIdentities(result);
}

TEST(FleetSim, StopDrainsKeepsWhatWasMeasuredAndExits5) {
  FleetSim sim(SmallRun());
  sim.StopAt(130s, 1);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kStopped) << Explain(sim, result);
  // The first step, whole, and the second as far as it came.
  ASSERT_EQ(result.steps.size(), 2u);
  EXPECT_FALSE(result.steps[0].summary.broken_off_after.has_value());
  const StepSummary& broken_off = result.steps[1].summary;
  ASSERT_TRUE(broken_off.broken_off_after.has_value());
  EXPECT_GT(*broken_off.broken_off_after, Duration(10s));
  EXPECT_LT(*broken_off.broken_off_after, broken_off.plan.measure);
  EXPECT_EQ(broken_off.verdict.verdict, Verdict::kNoData);
  EXPECT_NE(broken_off.verdict.reasons.at(0).find("of 1m"), std::string::npos);
  std::uint64_t released = 0;
  for (const CallRecord& r : sim.records()) {
    EXPECT_NE(r.outcome, Outcome::kCut);
    if (r.step == broken_off.plan.step && r.released >= broken_off.plan.warm_up.count()) ++released;
  }
  EXPECT_EQ(broken_off.errors.attempts, released);
  EXPECT_GT(broken_off.ttft.n, 0u);
}

TEST(FleetSim, CallsThatAnAbortHangsUpAreNoFailuresOfTheBrokenOffStep) {
  SimOptions options = SmallRun();
  options.engine.decode_tokens_per_s = 2;  // Calls that are in flight whenever it comes.
  FleetSim sim(std::move(options));
  sim.StopAt(50s, 1);
  sim.StopAt(50s + 50ms, 2);
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 1u);
  const ErrorSummary& errors = result.steps[0].summary.errors;
  EXPECT_EQ(errors.outcomes[static_cast<std::size_t>(Outcome::kCut)], 0u);
  EXPECT_EQ(errors.failed, 0u);
  EXPECT_NE(result.steps[0].note.find("hung up by the stop"), std::string::npos)
      << result.steps[0].note;
}

// Keys of the calls that agents handed over from `from` on, in the rig's time.
SimOptions WatchingStarts(SimOptions options, FleetSim** sim, Duration from,
                          std::set<std::uint64_t>* keys) {
  options.target.on_start = [sim, from, keys](MonoTime, const CallRequest& request) {
    if ((*sim)->scheduler().Now() >= MonoTime{} + from) keys->insert(request.call_key);
  };
  return options;
}

TEST(FleetSim, EveryCallInFlightAtAStopIsInTheJournal) {
  for (const int signals : {1, 2}) {
    std::size_t in_flight = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(fmt::format("{} signals, network seed {}", signals, seed));
      SimOptions options = SmallRun();
      // Batches are lost and sent again, seconds after the agent has said that it stopped.
      options.network.batch_loss = 0.1;
      options.network.seed = seed;
      std::set<std::uint64_t> started;
      FleetSim* rig = nullptr;
      FleetSim sim(WatchingStarts(options, &rig, 40s, &started));  // Priming is long over.
      rig = &sim;
      sim.StopAt(50s, 1);
      if (signals == 2) sim.StopAt(50s + 50ms, 2);
      const RunResult result = sim.Run();
      EXPECT_EQ(result.code, ExitCode::kStopped) << Explain(sim, result);
      std::set<std::uint64_t> stored;
      for (const CallRecord& r : sim.records()) {
        stored.insert(MixKey(KeysFor(options.plan, r.lane, r.play).play, r.call, r.attempt));
        in_flight += r.outcome == Outcome::kCut ? 1 : 0;
      }
      for (const std::uint64_t key : started) EXPECT_TRUE(stored.contains(key));
      EXPECT_FALSE(started.empty());
    }
    EXPECT_EQ(in_flight > 0, signals == 2);
  }
}

TEST(FleetSim, AStopWaitsForLostBatchesNoLongerThanItsDeadlineAndSaysWhatIsMissing) {
  SimOptions options = SmallRun();
  options.network.batch_loss = 1;
  FleetSim sim(std::move(options));
  sim.StopAt(50s, 1);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kStopped) << Explain(sim, result);
  EXPECT_TRUE(sim.records().empty());
  // The step's drain limit and 15 s.
  EXPECT_GE(sim.scheduler().Now() - MonoTime{}, 50s + 45s);
  EXPECT_LT(sim.scheduler().Now() - MonoTime{}, 50s + 46s);
  EXPECT_NE(Explain(sim, result).find("agent 1: batches 1 to "), std::string::npos)
      << Explain(sim, result);
}

TEST(FleetSim, TheSecondStopAbortsAtOnce) {
  SimOptions options = SmallRun();
  options.engine.decode_tokens_per_s = 0.5;  // Calls that would drain for minutes.
  FleetSim sim(std::move(options));
  sim.StopAt(40s, 1);
  sim.StopAt(41s, 2);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kStopped) << Explain(sim, result);
  EXPECT_LT(sim.scheduler().Now() - MonoTime{}, 43s);
}

TEST(FleetSim, PrimingThatItsLimitCutsDelaysNothingAndLosesNobody) {
  SimOptions options = SmallRun();
  options.settings.sessions = {40};
  options.settings.step.prime_limit = 100ms;
  FleetSim sim(std::move(options));
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 1u) << Explain(sim, result);
  EXPECT_FALSE(result.steps[0].summary.verdict.is_void) << Explain(sim, result);
  EXPECT_EQ(sim.agents_started(), 2u);
  ExpectIdentities(result);
}

TEST(FleetSim, AStoreThatFailsEndsTheRunWithoutAVerdict) {
  FleetSim sim(SmallRun());
  sim.FailStoreAt(50s);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kCouldNotRun) << Explain(sim, result);
  EXPECT_NE(result.reason.find("no space left"), std::string::npos) << result.reason;
  // Nothing can be kept any more, so nothing is waited for.
  EXPECT_LT(sim.scheduler().Now() - MonoTime{}, 53s);
}

TEST(FleetSim, AgentsClocksMayLieFarApart) {
  SimOptions options = SmallRun();
  options.settings.agents = 5;
  options.clock_spread = 24h;
  FleetSim sim(std::move(options));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  for (const AgentEvidence& agent : result.steps.at(0).summary.agents) {
    EXPECT_LT(agent.skew_ns, Duration(5ms).count());
  }
}

}  // namespace
}  // namespace plimsoll
