// Generators that were the bottleneck, or lost what they measured: whatever the parts show, the
// step is no data, is repeated once, and without a better repeat the run ends with exit code 3.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/run_words.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::HasSubstr;

// Of agent 1 alone, from its first step on and until `until`.
SimOptions WithLoad(const SimLoad& load, Duration until = 24h) {
  SimOptions options = SmallRun();
  options.load = [load, until](std::uint32_t slot, MonoTime now) {
    return slot == 1 && now < MonoTime{} + until ? load : SimLoad{};
  };
  return options;
}

void ExpectVoid(const RunStep& step, const std::string& reason) {
  EXPECT_TRUE(step.summary.verdict.is_void);
  EXPECT_EQ(step.summary.verdict.verdict, Verdict::kNoData);
  EXPECT_THAT(step.summary.verdict.reasons, ::testing::Contains(ContainsRegex(reason)));
  for (const PartVerdict& part : step.summary.verdict.parts) {
    EXPECT_EQ(part.verdict, Verdict::kNoData);
  }
}

// The step, once more, and then the end.
void ExpectOneRepeatAndExit3(const FleetSim& sim, const RunResult& result,
                             const std::string& reason, std::uint64_t agents = 2) {
  SCOPED_TRACE(Explain(sim, result));
  EXPECT_EQ(result.code, ExitCode::kNoData);
  ASSERT_EQ(result.steps.size(), 2u);
  for (const RunStep& step : result.steps) ExpectVoid(step, reason);
  EXPECT_EQ(result.steps[0].summary.plan.sessions, result.steps[1].summary.plan.sessions);
  EXPECT_EQ(result.steps[0].summary.origin.kind, StepKind::kPlanned);
  EXPECT_EQ(result.steps[1].summary.origin.kind, StepKind::kRepeat);
  EXPECT_EQ(sim.agents_started(), agents) << "nobody was lost";
}

struct LoadCase {
  const char* name;
  SimLoad load;
  const char* reason;
};
class SaturatedAgent : public ::testing::TestWithParam<LoadCase> {};

TEST_P(SaturatedAgent, MakesNoDataIsRepeatedOnceAndEndsWithExit3) {
  SimOptions options = WithLoad(GetParam().load);
  options.settings.step.measure = 20s;
  FleetSim sim(std::move(options));
  const RunResult result = sim.Run();
  ExpectOneRepeatAndExit3(sim, result, GetParam().reason);
  // The other agent has no share in it.
  for (const RunStep& step : result.steps) {
    EXPECT_THAT(step.summary.verdict.reasons, Each(HasSubstr("'sim-1-")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Causes, SaturatedAgent,
    ::testing::Values(
        LoadCase{"lag", {.loop_lag_max = 1100ms}, "generator-limited: .* stood still for 1100 ms"},
        LoadCase{"stalls",
                 {.loop_stalled = 440ms},
                 "generator-limited: .* stood still for 2.2% of the measured time"},
        LoadCase{"cpu", {.cpu_share_max = 0.95}, "generator-limited: .* used 95% of a core"},
        LoadCase{"thread",
                 {.host = {.thread_share_max = 0.95}},
                 "generator-limited: a thread of .* used 95% of a core"},
        LoadCase{"cores",
                 {.host = {.cores_used_max = 1.9, .cores = 2.0}},
                 "generator-limited: .* used 1.9 of its 2 cores"},
        LoadCase{"throttled",
                 {.host = {.throttled_ns = Duration(5340ms).count()}},
                 "generator-limited: .* was throttled .* for 26.7% of the measured time"},
        LoadCase{"stolen",
                 {.host = {.stolen_ns = Duration(5340ms).count()}},
                 "generator-limited: 26.7% of the processor time of agent"},
        LoadCase{"descriptors",
                 {.host = {.descriptors_max = 980, .descriptors_limit = 1024}},
                 "generator-limited: .* had 980 of its 1024 descriptors open"},
        LoadCase{"ports",
                 {.host = {.ports_max = 27'500, .ports_limit = 28'232}},
                 "generator-limited: .* had 27500 TCP sockets for its 28232 local ports"}),
    [](const auto& with) { return with.param.name; });

TEST(GeneratorSim, AStepThatWasVoidOnceIsJudgedByItsRepeat) {
  FleetSim sim(
      WithLoad({.loop_lag_max = 1100ms}, 90s));  // The first step's measured time ends at 75 s.
  const RunResult result = sim.Run();
  SCOPED_TRACE(Explain(sim, result));
  EXPECT_EQ(result.code, ExitCode::kHeld);
  ASSERT_EQ(result.steps.size(), 4u);
  ExpectVoid(result.steps[0], "generator-limited");
  EXPECT_EQ(result.steps[1].summary.origin.kind, StepKind::kRepeat);
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(result.steps[i].summary.verdict.verdict, Verdict::kPass);
  }
  ExpectIdentities(result);
}

// What only might have made calls late is said, and is no reason to throw a step away.
TEST(GeneratorSim, AtTheBoundsEveryStepCountsAndWhatHeldAnAgentBackIsSaid) {
  const SimLoad load{.loop_lag_max = 1s,
                     .loop_stalled = 1200ms,
                     .cpu_share_max = 0.9,
                     .host = {.cores_used_max = 1.8,
                              .cores = 2.0,
                              .thread_share_max = 0.9,
                              .throttled_ns = Duration(3s).count(),
                              .stolen_ns = Duration(15s).count(),
                              .descriptors_max = 95,
                              .descriptors_limit = 100,
                              .ports_max = 950,
                              .ports_limit = 1000}};
  FleetSim sim(WithLoad(load));
  const RunResult result = sim.Run();
  SCOPED_TRACE(Explain(sim, result));
  EXPECT_EQ(result.code, ExitCode::kHeld);
  ASSERT_EQ(result.steps.size(), 3u);
  const StepSummary& step = result.steps[0].summary;
  ASSERT_EQ(step.agents.size(), 2u);
  EXPECT_EQ(step.agents[0].host, HostLoad{});
  EXPECT_EQ(step.agents[1].host, load.host);
  std::vector<std::string> said;
  for (const Suspicion& suspicion : step.suspicions) {
    if (suspicion.check == SuspicionCheck::kAgentHeldBack) said.push_back(suspicion.text);
  }
  ASSERT_EQ(said.size(), 2u);
  EXPECT_THAT(said[0], HasSubstr("throttled the generator: 1 of 2 agents, at worst 'sim-1-"));
  EXPECT_THAT(said[0], HasSubstr("by 5.0% of the measured time"));
  EXPECT_THAT(said[1], HasSubstr("to other guests: 1 of 2 agents, at worst 'sim-1-"));
  EXPECT_THAT(said[1], HasSubstr("by 25.0% of the measured time"));
}

TEST(GeneratorSim, ReleasesThatLeaveLateMakeNoData) {
  SimOptions options = SmallRun();
  options.plan.think_time = ThinkTime::kRecorded;  // Pauses, which the agent's own timers end.
  options.plan.think_time_cap = 1s;
  FleetSim sim(std::move(options));
  // Within the measured times of the step and of its repeat, not at their starts.
  for (const Duration from : {Duration(40s), Duration(112s)}) {
    for (int i = 0; i < 30; ++i) sim.StallAgentAt(from + i * Duration(1s), 1, 300ms);
  }
  const RunResult result = sim.Run();
  ExpectOneRepeatAndExit3(sim, result, "1% of agent 'sim-1-.* calls left [0-9]+ ms late or more");
  for (const RunStep& step : result.steps) {
    ASSERT_EQ(step.summary.agents.size(), 2u);
    EXPECT_EQ(step.summary.agents[0].lateness_max_ns, 0);
    EXPECT_GT(step.summary.agents[1].lateness_p99_ns, Duration(50ms).count());
    EXPECT_LE(step.summary.agents[1].lateness_max_ns, Duration(300ms).count());
  }
}

// One lane whose calls take 0.6 s and a little, so that each has a batch of its own: steps of fifty
// minutes, in which an agent whose batches nobody takes reaches the bound of what it keeps.
SimOptions LongSteps() {
  Corpus corpus;
  corpus.models = {"m"};
  Session session{.id = "chain", .tier = Tier::kLight, .streams = {{}}};
  for (std::int32_t call = 0; call < 100; ++call) {
    session.calls.push_back({.ref = call - 1,
                             .kept_blocks = call == 0 ? 0u : 3u,
                             .tokens_in = 200,
                             .tokens_out = 30,
                             .service_ms = 630});
  }
  corpus.sessions = {session};
  SimOptions options = SmallRun();
  options.corpus = std::make_shared<const Corpus>(std::move(corpus));
  options.plan.tiers = {{.name = "light", .tier = Tier::kLight, .share = 1}};
  options.engine.decode_tokens_per_s = 50;
  options.engine.noise = {.call_sigma = 0, .session_sigma = 0, .drift_sigma = 0, .cold_share = 0};
  options.network.through_codec = false;  // Speed.
  options.settings.sessions = {1};
  options.settings.agents = 1;
  options.settings.step.measure = 50min;
  options.settings.step.block = 10min;
  return options;
}

TEST(GeneratorSim, RecordsThatAreLostForGoodMakeNoDataAndEachStepCountsItsOwn) {
  FleetSim sim(LongSteps());
  sim.LoseBatchesBetween(30s, 49min);
  sim.LoseBatchesBetween(52min, 99min + 30s);  // The repeat's, up to a minute before its end.
  const RunResult result = sim.Run();
  ExpectOneRepeatAndExit3(sim, result, "agent 'sim-0-1' lost [0-9]+ records", 1);
  for (const RunStep& step : result.steps) {
    const StepPlan& plan = step.summary.plan;
    const AgentEvidence& agent = step.summary.agents.at(0);
    EXPECT_GT(agent.records_lost, 100u);
    EXPECT_LT(agent.records_lost, agent.attempts);
    // What it says it lost is what the journal lacks of the attempts that it says it made.
    std::uint64_t kept = 0;
    for (const CallRecord& r : sim.records()) {
      const bool measured =
          r.released >= plan.warm_up.count() && r.released < (plan.warm_up + plan.measure).count();
      kept += r.step == plan.step && measured ? 1 : 0;
    }
    EXPECT_EQ(kept + agent.records_lost, agent.attempts) << "step " << plan.step;
  }
}

}  // namespace
}  // namespace plimsoll
