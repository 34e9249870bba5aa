// Whole sweeps in virtual time: extensions, repeats, refinements, drains, ladders, and that the
// identities hold across all of them.
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "gtest/gtest.h"
#include "tests/sim/fleet_sim.h"
#include "tests/sim/run_words.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

std::vector<StepKind> KindsOf(const RunResult& result) {
  std::vector<StepKind> kinds;
  for (const RunStep& step : result.steps) kinds.push_back(step.summary.origin.kind);
  return kinds;
}

// No lane ever plays a play again, or sends one of its calls twice.
void ExpectPlaysOnce(const FleetSim& sim) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint8_t>> sent;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> session_of;
  for (const CallRecord& r : sim.records()) {
    EXPECT_TRUE(sent.insert({r.lane, r.play, r.call, r.attempt}).second)
        << "lane " << r.lane << " play " << r.play << " call " << r.call;
    const auto [at, is_new] = session_of.try_emplace({r.lane, r.play}, r.session);
    EXPECT_EQ(at->second, r.session);
  }
}

void ExpectWhole(const FleetSim& sim, const RunResult& result) {
  ExpectIdentities(result);
  ExpectPlaysOnce(sim);
  for (const RunStep& step : result.steps) {
    EXPECT_FALSE(step.summary.verdict.is_void) << Explain(sim, result);
    EXPECT_GT(step.summary.verdict.offered_share, 0.99);
  }
}

// The TTFT limit at the step's own P90, so that any step is too close to call.
SimOptions CloseRun() {
  SimOptions o = SmallRun();
  o.settings.sessions = {6, 8};
  FleetSim probe(o);
  const RunResult result = probe.Run();
  o.bar.limits[0].value = *result.steps.at(0).summary.ttft.p90_s.value;
  return o;
}

TEST(SweepSim, ACloseStepIsExtendedOnTheSameLanesAndJudgedOnBothTogether) {
  SimOptions o = CloseRun();
  o.settings.extend = true;
  FleetSim sim(o);
  const RunResult result = sim.Run();
  ASSERT_GE(result.steps.size(), 2u) << Explain(sim, result);
  const StepSummary& first = result.steps[0].summary;
  const StepSummary& more = result.steps[1].summary;
  ASSERT_EQ(first.verdict.verdict, Verdict::kTooClose) << Explain(sim, result);
  EXPECT_EQ(more.origin.kind, StepKind::kExtension);
  EXPECT_EQ(more.plan.sessions, 6u);
  EXPECT_EQ(more.plan.measure, 2 * first.plan.measure);
  EXPECT_GT(more.ttft.n, first.ttft.n * 3 / 2) << "both together";
  EXPECT_GT(more.errors.attempts, first.errors.attempts);
  EXPECT_LT(Part(more, Metric::kTtft).share_high - Part(more, Metric::kTtft).share_low,
            Part(first, Metric::kTtft).share_high - Part(first, Metric::kTtft).share_low);
  EXPECT_THAT(result.steps[1].note, HasSubstr("too close to call"));
  ExpectWhole(sim, result);
  // The lanes went on: between the two steps no lane was without a call for long.
  std::map<std::uint32_t, StepNanos> first_of_extension;
  for (const CallRecord& r : sim.records()) {
    if (r.step != more.plan.step) continue;
    const auto [at, is_new] = first_of_extension.try_emplace(r.lane, r.released);
    if (!is_new) at->second = std::min(at->second, r.released);
  }
  EXPECT_EQ(first_of_extension.size(), 6u);
}

TEST(SweepSim, AnAgentLostInAnExtensionLeavesTheFirstVerdictStanding) {
  SimOptions o = CloseRun();
  o.settings.extend = true;
  o.settings.sessions = {6};
  Duration until{};
  {
    FleetSim probe(o);
    const RunResult whole = probe.Run();
    ASSERT_EQ(whole.steps.size(), 2u) << Explain(probe, whole);
    until = probe.scheduler().Now() - MonoTime{};
  }
  FleetSim sim(o);
  sim.KillAgentAt(until - 40s, 1);
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 2u) << Explain(sim, result);
  EXPECT_TRUE(result.steps[1].summary.verdict.is_void) << Explain(sim, result);
  EXPECT_EQ(result.code, ExitCode::kTooClose);
  EXPECT_THAT(result.reason, HasSubstr("its extension gave no data"));
}

// Holds at eight sessions, misses at 40.
SimOptions Gap() {
  SimOptions o = SmallRun();
  o.settings.sessions = {8, 40};
  o.settings.refine = true;
  o.settings.budget = 40min;
  o.engine.running_max = 10;
  o.bar.limits[0].value = 1.5;
  return o;
}

TEST(SweepSim, WhatIsLeftIsSpentBetweenTheLastThatHeldAndTheFirstThatDidNot) {
  FleetSim sim(Gap());
  const RunResult result = sim.Run();
  ASSERT_GE(result.steps.size(), 5u) << Explain(sim, result);
  std::uint32_t low = 8;
  std::uint32_t high = 40;
  EXPECT_EQ(result.steps[0].summary.verdict.verdict, Verdict::kPass) << Explain(sim, result);
  EXPECT_EQ(result.steps[1].summary.verdict.verdict, Verdict::kFail) << Explain(sim, result);
  for (std::size_t i = 2; i < result.steps.size(); ++i) {
    const StepSummary& step = result.steps[i].summary;
    EXPECT_EQ(step.origin.kind, StepKind::kRefinement);
    EXPECT_EQ(step.plan.sessions, low + (high - low) / 2) << Explain(sim, result);
    (step.verdict.holds() ? low : high) = step.plan.sessions;
    EXPECT_FALSE(result.steps[i].note.empty());
  }
  EXPECT_LT(high - low, 8u) << Explain(sim, result);
  EXPECT_LE(sim.scheduler().Now() - MonoTime{}, 40min + 1min) << "the run's end drains";
  EXPECT_THAT(Explain(sim, result), HasSubstr("lanes ended"));
  ExpectWhole(sim, result);
}

TEST(SweepSim, LanesThatEndFinishTheirCallsOrAreHungUpAtTheDrainLimit) {
  SimOptions o = Gap();
  o.settings.budget = 15min;
  o.settings.step.drain_limit = 200ms;  // Calls take longer; what is open in a step is cut too.
  o.bar.limits[2].value = 0.2;
  FleetSim sim(o);
  const RunResult result = sim.Run();
  ASSERT_GE(result.steps.size(), 3u) << Explain(sim, result);
  EXPECT_THAT(Explain(sim, result), HasSubstr("were hung up at the drain limit"));
  ExpectIdentities(result);
  ExpectPlaysOnce(sim);
}

TEST(SweepSim, ADrainBetweenStepsLeavesNoCallInFlightAtAStart) {
  SimOptions o = SmallRun();
  o.settings.drain_between_steps = true;
  FleetSim sim(o);
  std::uint32_t most_at_start = 0;
  bool seen = false;
  sim.Watch([&](const LiveStatus& live) {
    // Primed, and the common start is ahead.
    if (live.part != StepPart::kPriming || !live.part_left || !live.step || *live.step == 0) return;
    if (!live.step_left) return;
    seen = true;
    most_at_start =
        std::max(most_at_start, sim.engine().gauges().running + sim.engine().gauges().waiting);
  });
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  EXPECT_TRUE(seen);
  EXPECT_EQ(most_at_start, 0u);
  ExpectWhole(sim, result);
}

TEST(SweepSim, LaddersRunOneAfterTheOtherOnTheSameFleet) {
  SimOptions o = SmallRun();
  o.settings.sessions = {4, 6};
  o.settings.target = 6;
  o.settings.tier_ladders = {{.name = "light", .tier = 1, .sessions = {4, 6}},
                             {.name = "heavy", .tier = 0, .sessions = {4}}};
  FleetSim sim(o);
  const RunResult result = sim.Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(sim, result);
  ASSERT_EQ(result.steps.size(), 5u) << Explain(sim, result);
  const char* ladders[] = {"mix", "mix", "light", "light", "heavy"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(result.steps[i].summary.origin.ladder, ladders[i]);
  }
  for (const CallRecord& r : sim.records()) {
    if (r.step == 2 || r.step == 3) {
      EXPECT_EQ(r.tier, 1) << "step " << r.step;
    }
    if (r.step == 4) {
      EXPECT_EQ(r.tier, 0);
    }
  }
  EXPECT_EQ(sim.agents_started(), 2u);
  ExpectWhole(sim, result);
}

TEST(SweepSim, ALimitOnOneTierIsNotJudgedOnTheLadderOfAnother) {
  SimOptions o = SmallRun();
  o.settings.sessions = {4};
  o.settings.tier_ladders = {{.name = "light", .tier = 1, .sessions = {4}},
                             {.name = "heavy", .tier = 0, .sessions = {4}}};
  Limit heavy = o.bar.limits[0];
  heavy.tier = "heavy";
  o.bar.limits.push_back(heavy);
  FleetSim sim(o);
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 3u) << Explain(sim, result);
  const std::size_t limits = o.bar.limits.size();
  EXPECT_EQ(result.steps[0].summary.verdict.parts.size(), limits);
  EXPECT_EQ(result.steps[1].summary.verdict.parts.size(), limits - 1);
  EXPECT_EQ(result.steps[2].summary.verdict.parts.size(), limits);
  EXPECT_NE(result.steps[1].summary.verdict.verdict, Verdict::kNoData) << Explain(sim, result);
  ExpectWhole(sim, result);
}

TEST(SweepSim, AnAgentKilledInALadderIsReplacedAndItsStepRepeated) {
  SimOptions o = SmallRun();
  o.settings.sessions = {4};
  o.settings.tier_ladders = {{.name = "light", .tier = 1, .sessions = {4, 6}}};
  FleetSim sim(o);
  sim.KillAgentAt(140s, 1);
  const RunResult result = sim.Run();
  ASSERT_EQ(result.steps.size(), 4u) << Explain(sim, result);
  EXPECT_EQ(KindsOf(result), (std::vector<StepKind>{StepKind::kPlanned, StepKind::kPlanned,
                                                    StepKind::kRepeat, StepKind::kPlanned}));
  EXPECT_TRUE(result.steps[1].summary.verdict.is_void);
  EXPECT_EQ(result.code, ExitCode::kHeld);
  ExpectIdentities(result);
  ExpectPlaysOnce(sim);
}

}  // namespace
}  // namespace plimsoll
