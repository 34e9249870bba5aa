// The sweep's next step: every branch as a table, and what holds for any sweep as seeded walks.
#include "coordinator/judge/sweep_policy.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"

namespace plimsoll {
namespace {

using Kind = SweepDecision::Kind;

StepResult Step(std::uint32_t sessions, Verdict verdict, Lean lean = Lean::kNone,
                StepKind kind = StepKind::kPlanned) {
  StepResult step{.sessions = sessions};
  step.verdict.verdict = verdict;
  step.verdict.parts = {{.limit = {.metric = Metric::kTtft}, .verdict = verdict, .lean = lean}};
  if (verdict != Verdict::kPass) step.verdict.reasons = {"TTFT: r"};
  step.origin.kind = kind;
  return step;
}
StepResult Pass(std::uint32_t n, StepKind kind = StepKind::kPlanned) {
  return Step(n, Verdict::kPass, Lean::kNone, kind);
}
StepResult Fail(std::uint32_t n, StepKind kind = StepKind::kPlanned) {
  return Step(n, Verdict::kFail, Lean::kNone, kind);
}
StepResult None(std::uint32_t n, StepKind kind = StepKind::kPlanned) {
  return Step(n, Verdict::kNoData, Lean::kNone, kind);
}
StepResult LeanPass(std::uint32_t n, StepKind kind = StepKind::kPlanned) {
  return Step(n, Verdict::kTooClose, Lean::kPass, kind);
}
StepResult LeanFail(std::uint32_t n, StepKind kind = StepKind::kPlanned) {
  return Step(n, Verdict::kTooClose, Lean::kFail, kind);
}
constexpr StepKind kExtension = StepKind::kExtension;
constexpr StepKind kRepeat = StepKind::kRepeat;
constexpr StepKind kRefinement = StepKind::kRefinement;

TEST(SweepPolicy, WithoutExtrasClimbsRepeatsOrStops) {
  const struct {
    SweepHistory history;
    Kind kind;
    std::uint32_t sessions;
    const char* reason;
    bool ends_run;
  } rows[] = {
      {{}, Kind::kRun, 5, "nothing was run yet; next 5", false},
      {{Pass(5)}, Kind::kRun, 10, "5 sessions hold; next 10", false},
      {{Pass(5), Fail(10)}, Kind::kStop, 0, "10 sessions miss: TTFT", false},
      {{Fail(5)}, Kind::kStop, 0, "5 sessions miss: TTFT", true},
      {{LeanPass(5)},
       Kind::kRun,
       10,
       "5 sessions are too close to call, leaning pass; next 10",
       false},
      {{LeanFail(5)}, Kind::kStop, 0, "5 sessions are too close to call, leaning fail", false},
      {{None(5)}, Kind::kRepeat, 5, "5 sessions gave no data: TTFT: r", false},
      {{None(5), None(5)}, Kind::kStop, 0, "5 sessions gave no data twice", true},
      {{None(5), Pass(5), None(10)}, Kind::kRepeat, 10, "10 sessions gave no data: TTFT: r", false},
      {{None(5), Pass(5)}, Kind::kRun, 10, "5 sessions hold; next 10", false},
      {{Pass(20)}, Kind::kStop, 0, "20 sessions hold; every planned step was run", false},
  };
  // The order of the planned steps does not matter.
  const SweepRules rules{.planned = {15, 5, 10, 20}};
  for (const auto& row : rows) {
    const SweepDecision decision = NextStep(row.history, rules);
    EXPECT_EQ(decision.kind, row.kind) << row.reason;
    EXPECT_EQ(decision.sessions, row.sessions) << row.reason;
    EXPECT_EQ(decision.reason, row.reason);
    EXPECT_EQ(decision.ends_run, row.ends_run) << row.reason;
  }
  EXPECT_EQ(NextStep({}, SweepRules{}).reason, "no step is planned");
}

SweepRules Full(std::optional<Duration> left = std::nullopt) {
  return {.planned = {5, 10, 20},
          .target = 10,
          .extend = true,
          .refine = true,
          .step_time = 10min,
          .extension_time = 7min,
          .refinement_time = 12min,
          .left = left};
}

TEST(SweepPolicy, ACloseStepGetsMoreTimeOnceAndThenDecidesAsItLeans) {
  SweepDecision next = NextStep({Pass(5), LeanFail(10)}, Full());
  EXPECT_EQ(next.kind, Kind::kExtend);
  EXPECT_EQ(next.sessions, 10u);
  EXPECT_EQ(next.reason, "10 sessions are too close to call, leaning fail: more time for it");
  next = NextStep({Pass(5), LeanFail(10), LeanPass(10, kExtension)}, Full());
  EXPECT_EQ(next.kind, Kind::kRun);
  EXPECT_EQ(next.sessions, 20u);
  next = NextStep({Pass(5), LeanPass(10), LeanFail(10, kExtension)}, Full());
  EXPECT_EQ(next.kind, Kind::kStop);
  next = NextStep({LeanPass(5), Pass(5, kExtension), LeanPass(10)}, Full());
  EXPECT_EQ(next.kind, Kind::kExtend) << "once for each number of sessions";
  EXPECT_EQ(next.sessions, 10u);
}

TEST(SweepPolicy, AnExtensionWithoutDataLeavesTheFirstVerdictStandingAndIsNotRepeated) {
  SweepDecision next = NextStep({LeanPass(5), None(5, kExtension)}, Full());
  EXPECT_EQ(next.kind, Kind::kRun);
  EXPECT_EQ(next.sessions, 10u);
  EXPECT_THAT(next.reason, testing::HasSubstr("its extension gave no data: TTFT: r"));
  next = NextStep({LeanFail(5), None(5, kExtension)}, Full());
  EXPECT_EQ(next.kind, Kind::kStop);
  // The step after it has a repeat of its own left.
  next = NextStep({LeanPass(5), None(5, kExtension), None(10)}, Full());
  EXPECT_EQ(next.kind, Kind::kRepeat);
}

TEST(SweepPolicy, AnExtensionLeavesTheTargetItsTime) {
  // Of the first step: the target (10) is still to come, 20 is not promised its time.
  EXPECT_EQ(NextStep({LeanPass(5)}, Full(17min)).kind, Kind::kExtend);
  const SweepDecision next = NextStep({LeanPass(5)}, Full(16min));
  EXPECT_EQ(next.kind, Kind::kRun);
  EXPECT_EQ(
      next.reason,
      "5 sessions are too close to call, leaning pass; 16m left of the budget, too little for "
      "more of it; next 10");
  EXPECT_EQ(NextStep({Pass(5), LeanPass(10)}, Full(7min)).kind, Kind::kExtend);
  SweepRules more_to_come = Full(7min);
  more_to_come.reserved = 1min;
  EXPECT_EQ(NextStep({Pass(5), LeanPass(10)}, more_to_come).kind, Kind::kStop)
      << "neither an extension nor another step";
}

TEST(SweepPolicy, WhatDoesNotFitIsLeftOutAndSaid) {
  SweepDecision next = NextStep({}, Full(9min));
  EXPECT_EQ(next.kind, Kind::kStop);
  EXPECT_EQ(next.reason, "nothing was run yet; 9m left of the budget, too little for 5 sessions");
  next = NextStep({Pass(5)}, Full(-1min));
  EXPECT_EQ(next.kind, Kind::kStop);
  EXPECT_EQ(next.reason, "5 sessions hold; 0s left of the budget, too little for 10 sessions");
  next = NextStep({None(5)}, Full(9min));
  EXPECT_EQ(next.kind, Kind::kStop);
  EXPECT_THAT(next.reason, testing::HasSubstr("too little for a repeat"));
  next = NextStep({Pass(5), Fail(10)}, Full(11min));
  EXPECT_EQ(next.kind, Kind::kStop);
  EXPECT_EQ(next.reason,
            "10 sessions miss: TTFT; 11m left of the budget, too little for a step "
            "between");
}

TEST(SweepPolicy, WhatIsLeftHalvesTheGapAroundTheCapacity) {
  const struct {
    SweepHistory history;
    std::uint32_t sessions;  // 0: stops.
  } rows[] = {
      {{Pass(5), Pass(10), Fail(20)}, 15},
      {{Pass(5), Pass(10), Fail(20), Pass(15, kRefinement)}, 17},
      // The gap is above the last that held, whatever was too close below it.
      {{Pass(5), LeanPass(10), LeanPass(10, kExtension), Pass(15), Fail(20)}, 17},
      {{LeanPass(5), LeanPass(5, kExtension), Pass(10), Fail(20)}, 15},
      {{Pass(5), Pass(10), Fail(20), Fail(15, kRefinement)}, 12},
      // What is too close did not hold, whatever it leans to.
      {{Pass(5), Pass(10), Fail(20), LeanPass(15, kRefinement), LeanPass(15, kExtension)}, 12},
      {{Pass(5), LeanPass(10), LeanPass(10, kExtension), Fail(20)}, 7},
      // A step that was repeated counts with the verdict that it got.
      {{Pass(5), Pass(10), Fail(20), None(15, kRefinement), Pass(15, kRepeat)}, 17},
      {{Pass(5), Pass(10), Fail(11)}, 0},
      {{Pass(5), Pass(10), Fail(20), None(15, kRefinement), None(15, kRepeat)}, 0},
      {{LeanPass(5), LeanPass(5, kExtension), Fail(10)}, 0},  // Nothing held.
      {{Fail(5)}, 0},
      {{Pass(5), Pass(10), Pass(20)}, 0},
  };
  for (const auto& row : rows) {
    const SweepDecision next = NextStep(row.history, Full(3h));
    SCOPED_TRACE(next.reason);
    EXPECT_EQ(next.sessions, row.sessions);
    EXPECT_EQ(next.kind, row.sessions > 0 ? Kind::kRefine : Kind::kStop);
  }
  EXPECT_THAT(NextStep({LeanPass(5), LeanPass(5, kExtension), Fail(10)}, Full(3h)).reason,
              testing::HasSubstr("no step held below it"));
  SweepRules off = Full(3h);
  off.refine = false;
  EXPECT_EQ(NextStep({Pass(5), Fail(10)}, off).kind, Kind::kStop);
  EXPECT_EQ(NextStep({Pass(5), Fail(10)}, Full()).kind, Kind::kStop) << "without a budget";
}

TEST(SweepPolicy, AnEventEndsTheRunWhateverTheStepsSay) {
  for (const SweepEvent event :
       {SweepEvent::kKvCacheFull, SweepEvent::kRefusals, SweepEvent::kKillSwitch}) {
    const SweepDecision next = NextStep({Pass(5)}, Full(), event);
    EXPECT_EQ(next.kind, Kind::kStop);
    EXPECT_TRUE(next.ends_run);
    EXPECT_FALSE(next.reason.empty());
  }
}

// What a decision costs, and what it makes of a step.
Duration CostOf(const SweepDecision& decision, const SweepRules& rules, bool refining) {
  switch (decision.kind) {
    case Kind::kExtend:
      return rules.extension_time;
    case Kind::kRefine:
      return rules.refinement_time;
    case Kind::kRepeat:
      return refining ? rules.refinement_time : rules.step_time;
    default:
      return rules.step_time;
  }
}

StepKind KindAfter(Kind kind) {
  return kind == Kind::kExtend   ? StepKind::kExtension
         : kind == Kind::kRefine ? StepKind::kRefinement
         : kind == Kind::kRepeat ? StepKind::kRepeat
                                 : StepKind::kPlanned;
}

TEST(JudgeTarget, SaysRequestsInFlightBesideSessionsWhereTheyAreKnown) {
  const auto said = [](Verdict verdict, double in_flight) {
    StepResult step = Step(15, verdict, Lean::kPass, StepKind::kPlanned);
    step.verdict.reasons = {"TTFT"};
    step.requests_in_flight = in_flight;
    return JudgeTarget({step}, 15).reason;
  };
  EXPECT_EQ(said(Verdict::kPass, 14.56), "15 sessions hold (14.6 requests in flight)");
  EXPECT_EQ(said(Verdict::kFail, 14.56), "15 sessions miss (14.6 requests in flight): TTFT");
  EXPECT_EQ(
      said(Verdict::kTooClose, 14.56)
          .find("15 sessions are too close to call, leaning pass (14.6 requests in flight): "),
      0u);
  EXPECT_EQ(said(Verdict::kNoData, 14.56), "15 sessions have no data: TTFT");
  EXPECT_EQ(said(Verdict::kPass, 0), "15 sessions hold") << "not known";
}

// A step that kept 0.97 requests in flight a session.
StepResult Told(StepResult step) {
  step.requests_in_flight = 0.97 * step.sessions;
  return step;
}

TEST(JudgeTarget, SaysRequestsInFlightOfTheStepsAroundATargetThatWasNotRun) {
  const auto said = [](const SweepHistory& history) { return JudgeTarget(history, 12).reason; };
  const StepResult pass = Told(Pass(10));
  const StepResult fail = Told(Fail(10));
  EXPECT_EQ(said({fail}),
            "12 sessions were not run: 10 already miss (9.7 requests in flight): TTFT: r");
  EXPECT_EQ(said({Told(Pass(15))}), "12 sessions were not run: 15 hold (14.5 requests in flight)");
  EXPECT_EQ(said({fail, Told(Pass(15))}),
            "12 sessions were not run: 10 miss (9.7 requests in flight), yet 15 hold (14.5 "
            "requests in flight)");
  EXPECT_EQ(said({pass, Told(Fail(15))}),
            "12 sessions were not run: 10 hold (9.7 requests in flight) and 15 miss (14.5 requests "
            "in flight)");
  EXPECT_EQ(said({pass}), "12 sessions were not run");
  EXPECT_EQ(said({Told(LeanPass(10))}),
            "12 sessions were not run: 10 sessions are too close to call, leaning pass (9.7 "
            "requests in flight): TTFT: r");
  EXPECT_EQ(said({Fail(10)}), "12 sessions were not run: 10 already miss: TTFT: r") << "not known";
  // The steps nearest to the target are named, and the first miss and the last hold of them.
  EXPECT_EQ(said({Pass(5), pass, Told(Fail(15)), Told(Fail(20))}), said({pass, Told(Fail(15))}));
}

TEST(SweepPolicy, SaysRequestsInFlightBesideSessions) {
  const auto said = [](const SweepHistory& history) { return NextStep(history, Full(3h)).reason; };
  EXPECT_EQ(said({Told(Pass(5))}), "5 sessions hold (4.8 requests in flight); next 10");
  EXPECT_EQ(said({Told(Fail(5))}), "5 sessions miss (4.8 requests in flight): TTFT");
  EXPECT_EQ(said({Told(LeanFail(5))}),
            "5 sessions are too close to call, leaning fail (4.8 requests in flight): more time "
            "for it");
  EXPECT_EQ(said({Told(Pass(5)), Told(Fail(10))}),
            "10 sessions miss (9.7 requests in flight): TTFT; 5 hold (4.8 requests in flight) and "
            "10 do not (9.7 requests in flight): 7 lie between");
  EXPECT_EQ(said({Pass(5), Fail(10)}),
            "10 sessions miss: TTFT; 5 hold and 10 do not: 7 lie between");
}

TEST(SweepPolicy, AnySweepEndsWithinItsBudgetAndNeverClimbsAfterAMiss) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    SweepRules rules = Full();
    rules.planned.clear();
    for (std::uint32_t n = 0; n < 60; n += 1 + static_cast<std::uint32_t>(rng.Below(25))) {
      rules.planned.push_back(n + 1);
    }
    rules.extend = rng.Chance(0.7);
    rules.refine = rng.Chance(0.7);
    const bool limited = rng.Chance(0.7);
    const Duration budget = std::chrono::minutes(rng.Below(240));
    Duration spent{};
    SweepHistory history;
    std::map<std::pair<std::uint32_t, StepKind>, int> runs;
    std::uint32_t missed = UINT32_MAX;
    for (;;) {
      if (limited) rules.left = budget - spent;
      const SweepDecision next = NextStep(history, rules);
      ASSERT_FALSE(next.reason.empty());
      if (next.kind == Kind::kStop) break;
      const bool refining = !history.empty() && history.back().origin.kind == kRefinement;
      spent += CostOf(next, rules, refining);
      if (limited) {
        ASSERT_LE(spent, budget) << next.reason;
      }
      // More sessions than a step that missed are never asked for.
      const bool again = next.kind == Kind::kExtend || next.kind == Kind::kRepeat;
      ASSERT_TRUE(again || next.sessions < missed) << next.reason;
      const int times = ++runs[{next.sessions, KindAfter(next.kind)}];
      ASSERT_EQ(times, 1) << next.sessions << ": " << next.reason;
      ASSERT_LT(history.size(), 200u);
      const auto verdict = static_cast<Verdict>(1 + rng.Below(4));
      const Lean lean = verdict != Verdict::kTooClose ? Lean::kNone
                        : rng.Chance(0.5)             ? Lean::kPass
                                                      : Lean::kFail;
      history.push_back(Step(next.sessions, verdict, lean, KindAfter(next.kind)));
      const bool extended_away = verdict == Verdict::kTooClose && rules.extend;
      if (verdict == Verdict::kFail || (lean == Lean::kFail && !extended_away)) {
        missed = std::min(missed, next.sessions);
      }
    }
  }
}

}  // namespace
}  // namespace plimsoll
