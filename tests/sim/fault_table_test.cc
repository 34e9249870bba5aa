// The table of faults and verdicts (design section 8), row by row in virtual time, with the rules
// that the gateway reads. What lives in bytes is met by real processes in tests/integration.
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/config/document.h"
#include "coordinator/judge/capacity.h"
#include "gateway/faults/fault_reader.h"
#include "gtest/gtest.h"
#include "tests/sim/run_words.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

// Faults as a person writes them.
std::vector<FaultRule> Faults(const std::string& lines, std::uint32_t copies = 1) {
  Problems problems("test");
  const ConfigNode root = ParseDocument("faults: [" + lines + "]", problems).value_or(ConfigNode{});
  FieldReader top(root, "", problems);
  std::vector<FaultRule> rules = ReadFaults(top, copies, problems);
  EXPECT_TRUE(problems.empty()) << problems.ToStatus();
  return rules;
}

SimOptions With(const std::string& lines) {
  SimOptions options = SmallRun();
  options.target.idle_timeout = 5s;
  options.faults = Faults(lines);
  return options;
}

// Rules that hold of any step, whatever struck it.
void ExpectSound(const RunResult& result) {
  ExpectIdentities(result);
  for (const RunStep& step : result.steps) {
    const StepVerdict& verdict = step.summary.verdict;
    EXPECT_FALSE(verdict.is_void) << "a fault of the deployment is no fault of the rig's: "
                                  << fmt::format("{}", fmt::join(verdict.reasons, "; "));
    EXPECT_EQ(step.summary.errors.client_errors, 0u);
    if (verdict.sent_share >= 0.95) continue;
    EXPECT_EQ(Part(step.summary, Metric::kTtft).verdict, Verdict::kNoData);
    EXPECT_EQ(Part(step.summary, Metric::kInteractivity).verdict, Verdict::kNoData);
  }
}

// The first step's measured time runs from about 17 s to 77 s.
struct Row {
  const char* name;
  const char* fault;
  Outcome outcome;
  bool silences = true;  // Lanes wait so long that no latency is judged.
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.fault;
}
class FailsOnErrors : public ::testing::TestWithParam<Row> {};

TEST_P(FailsOnErrors, InTheMiddleOfTheFirstStep) {
  FleetSim sim(With(GetParam().fault));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
  ASSERT_EQ(result.steps.size(), 1u) << "a miss ends the sweep";
  const RunStep& step = result.steps[0];
  EXPECT_EQ(step.summary.verdict.verdict, Verdict::kFail) << Explain(sim, result);
  EXPECT_EQ(Part(step.summary, Metric::kErrors).verdict, Verdict::kFail) << Explain(sim, result);
  EXPECT_GT(step.summary.errors.outcomes.at(static_cast<std::size_t>(GetParam().outcome)), 0u);
  EXPECT_GT(step.summary.errors.ok, 0u);
  if (GetParam().silences) {
    EXPECT_LT(step.summary.verdict.sent_share, 0.95);
  }
  ExpectSound(result);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FailsOnErrors,
    ::testing::Values(
        Row{"refusals", "{kind: refuse, status: 429, retry_after: 2s, at: 45s}", Outcome::kRefused},
        Row{"some_refusals", "{kind: refuse, status: 503, retry_after: 2s, probability: 20%}",
            Outcome::kRefused},
        Row{"server_errors", "{kind: refuse, status: 500, at: 45s}", Outcome::kHttpError},
        Row{"web_pages", "{kind: html, at: 45s}", Outcome::kHttpError},
        Row{"refusals_of_an_engine", "{kind: engine_refuse, status: 503, at: 45s}",
            Outcome::kRefused},
        Row{"crash", "{kind: crash, at: 45s}", Outcome::kConnectError},
        Row{"crash_of_a_copy", "{kind: crash, copies: [0], at: 45s}", Outcome::kRefused},
        Row{"restart", "{kind: slow_start, at: 45s, for: 1h}", Outcome::kRefused},
        Row{"truncated", "{kind: truncate, at: 45s}", Outcome::kTruncated},
        Row{"error_after_200", "{kind: error_after_200, at: 45s}", Outcome::kStreamError},
        Row{"garbage", "{kind: garbage, at: 45s}", Outcome::kStreamError},
        Row{"stall", "{kind: stall, at: 45s}", Outcome::kIdleTimeout},
        Row{"some_stalls", "{kind: stall, probability: 20%}", Outcome::kIdleTimeout, false},
        Row{"context_limit", "{kind: context_limit, tokens: 2k, at: 45s}",
            Outcome::kContextOverflow},
        Row{"kv_full", "{kind: kv_full, at: 45s}", Outcome::kIdleTimeout},
        Row{"stuck_queue", "{kind: stuck_queue, at: 45s}", Outcome::kIdleTimeout}),
    [](const auto& row) { return row.param.name; });

// A gateway that serves six calls at a time and refuses what is beyond.
TEST(FaultTable, AGatewayThatShedsHalfTheLoadFailsOnErrorsAndDoesNotPassOnSpeed) {
  SimOptions options = With("{kind: refuse, status: 429, in_flight_min: 6}");
  options.settings.sessions = {16};
  FleetSim sim(options);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_EQ(Part(result.steps[0].summary, Metric::kErrors).verdict, Verdict::kFail);
  EXPECT_LT(result.steps[0].summary.verdict.sent_share, 0.95);
  ExpectSound(result);
}

// Every other request is refused, whoever sent it: the lanes are alike, and two are enough to tell.
// A single one may need the repetition of its step.
TEST(FaultTable, AGatewayThatRefusesEveryOtherRequestFailsAtAnyNumberOfLanes) {
  for (const std::uint32_t lanes : {1u, 2u, 4u, 16u}) {
    for (const std::uint64_t seed : {42u, 43u, 44u, 45u}) {
      SCOPED_TRACE(fmt::format("{} lanes, seed {}", lanes, seed));
      SimOptions options = With("{kind: refuse, status: 429, probability: 50%}");
      options.settings.sessions = {lanes};
      options.plan.seed = seed;
      FleetSim sim(options);
      const RunResult result = sim.Run();
      EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
      ASSERT_FALSE(result.steps.empty());
      EXPECT_LE(result.steps.size(), lanes == 1 ? 2u : 1u);
      EXPECT_EQ(Part(result.steps.back().summary, Metric::kErrors).verdict, Verdict::kFail);
      ExpectSound(result);
    }
  }
}

// Half of the lanes are served and half are starved, for as long as the step lasts. Lanes are what
// the interval of the errors counts, and of a few it can say little (docs/statistics.md): no data,
// never a pass. From sixteen on it fails.
TEST(FaultTable, AGatewayThatStarvesHalfOfTheLanesFailsFromSixteenOnAndNeverPasses) {
  for (const std::uint32_t lanes : {2u, 4u, 8u, 16u}) {
    for (const std::uint64_t seed : {42u, 43u, 44u, 45u}) {
      SCOPED_TRACE(fmt::format("{} lanes, seed {}", lanes, seed));
      SimOptions options =
          With(fmt::format("{{kind: refuse, status: 429, in_flight_min: {}}}", lanes / 2));
      options.settings.sessions = {lanes};
      options.plan.seed = seed;
      FleetSim sim(options);
      const RunResult result = sim.Run();
      ASSERT_FALSE(result.steps.empty());
      const StepSummary& first = result.steps.front().summary;
      const PartVerdict& errors = Part(first, Metric::kErrors);
      EXPECT_LT(first.verdict.sent_share, 0.55) << "half was starved";
      if (lanes >= 16) {
        EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
        EXPECT_EQ(errors.verdict, Verdict::kFail);
      } else {
        EXPECT_TRUE(result.code == ExitCode::kMissed || result.code == ExitCode::kNoData)
            << Explain(sim, result);
        EXPECT_NE(errors.verdict, Verdict::kPass) << errors.reason;
      }
      ExpectSound(result);
    }
  }
}

TEST(FaultTable, ASlowerEngineFailsByTheNumbersAndNotOnErrors) {
  SimOptions options = With("{kind: slower, factor: 8, at: 20s}");
  options.settings.step.measure = 240s;
  options.bar.limits[1].value = 10;
  FleetSim sim(options);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(sim, result);
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_NE(Part(result.steps[0].summary, Metric::kErrors).verdict, Verdict::kFail);
  EXPECT_EQ(Part(result.steps[0].summary, Metric::kInteractivity).verdict, Verdict::kFail);
  ExpectSound(result);
}

// Sessions of the last step that passed in a sweep that the healthy engine fails on TTFT.
std::uint32_t Held(const std::string& faults) {
  SimOptions options = SmallRun();
  options.faults = Faults(faults);
  options.engine.prefill_tokens_per_s = 8'000;
  options.engine.noise.drift_sigma = 0;
  options.settings.sessions = {2, 4, 24};
  options.settings.step.measure = 300s;
  options.settings.step.block = 30s;
  options.bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 1.5},
                        {.metric = Metric::kErrors, .value = 0.05}};
  FleetSim sim(options);
  const RunResult result = sim.Run();
  ExpectSound(result);
  EXPECT_TRUE(CapacityOf(result.history).failed.has_value()) << Explain(sim, result);
  return CapacityOf(result.history).passed.value_or(0);
}

TEST(FaultTable, CacheOffAndASlowerEngineLowerTheCapacity) {
  const std::uint32_t healthy = Held("");
  EXPECT_GT(healthy, 2u);
  EXPECT_LT(Held("{kind: cache_off}"), healthy);
  EXPECT_LT(Held("{kind: slower, factor: 6}"), healthy);
}

TEST(FaultTable, ASlowStartThatIsOverBeforeTheLoadLeavesNoTrace) {
  FleetSim sim(With("{kind: slow_start, for: 2s}"));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  ExpectSound(result);
}

// A fault that begins with the second step: the sweep ends there, and the target decides the code.
TEST(FaultTable, KvFullAndSustainedRefusalsEndTheSweepAndTheTargetDecides) {
  for (const char* fault : {"{kind: kv_full, at: 110s}", "{kind: refuse, status: 503, at: 110s}"}) {
    for (const std::uint32_t target : {4u, 6u, 8u}) {
      SCOPED_TRACE(fmt::format("{} target {}", fault, target));
      SimOptions options = With(fault);
      options.settings.target = target;
      FleetSim sim(options);
      const RunResult result = sim.Run();
      EXPECT_EQ(result.code, target == 4 ? ExitCode::kHeld : ExitCode::kMissed)
          << Explain(sim, result);
      ASSERT_EQ(result.steps.size(), 2u) << Explain(sim, result);
      EXPECT_TRUE(result.steps[0].summary.verdict.holds());
      EXPECT_EQ(Part(result.steps[1].summary, Metric::kErrors).verdict, Verdict::kFail);
      ExpectSound(result);
    }
  }
}

TEST(FaultTable, AFaultThatPassesFailsOnlyWhatItStruck) {
  // Over before the measured time begins.
  FleetSim sim(With("{kind: truncate, at: 2s, for: 3s}"));
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  EXPECT_EQ(result.steps.size(), 3u);
  ExpectSound(result);
}

}  // namespace
}  // namespace plimsoll
