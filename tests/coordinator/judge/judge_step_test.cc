// Void rules, load rule, parts and their combination.
#include "coordinator/judge/judge_step.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coordinator/judge/void_rules.h"
#include "tests/coordinator/judge/evidence_builder.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::DefaultBar;
using ::plimsoll::testing::Healthy;
using ::testing::HasSubstr;

std::int64_t& State(StepEvidence& e, LaneState state) {
  return e.lane_state_ns[static_cast<std::size_t>(state)];
}

// Moves `share` of the planned lane-time from in flight to another state.
void Idle(StepEvidence& e, LaneState state, double share) {
  const auto ns = static_cast<std::int64_t>(share * static_cast<double>(e.planned_lane_ns));
  State(e, LaneState::kInFlight) -= ns;
  State(e, state) += ns;
}

TEST(JudgeStep, AHealthyStepHolds) {
  const StepVerdict step = JudgeStep(Healthy(), DefaultBar());
  EXPECT_TRUE(step.holds());
  EXPECT_FALSE(step.is_void);
  EXPECT_TRUE(step.reasons.empty());
  EXPECT_EQ(step.offered_share, 1);
  EXPECT_EQ(step.sent_share, 1);
  ASSERT_EQ(step.parts.size(), 3u);
  EXPECT_EQ(step.parts[0].n, 600u);
  EXPECT_NEAR(step.parts[0].value.value(), 4.0, 0.1);
  EXPECT_NEAR(step.parts[0].margin.value(), (5.3 - 4.0) / 5.3, 0.02);
  EXPECT_GT(step.parts[1].margin.value(), 0);
  EXPECT_EQ(step.parts[2].value.value(), 0);
  EXPECT_EQ(step.parts[2].margin.value(), 1);
  EXPECT_THAT(step.parts[0].reason, HasSubstr("P90 of 600 calls 4"));
  EXPECT_THAT(step.parts[0].reason, HasSubstr("limit 5.3 s: 100.0% within (95% interval "));
  EXPECT_THAT(step.parts[0].reason, HasSubstr("needs 90%"));
}

struct VoidCase {
  const char* name;
  std::function<void(StepEvidence&)> change;
  const char* reason;
};

TEST(JudgeStep, VoidRulesComeFirst) {
  const VoidCase cases[] = {
      {"lost", [](StepEvidence& e) { e.agents[0].lost = true; }, "'agent-0' was lost"},
      {"records", [](StepEvidence& e) { e.agents[0].records_lost = 1; }, "lost 1 records"},
      {"skew", [](StepEvidence& e) { e.agents[0].skew_ns = -100'000'001; }, "off the common start"},
      {"skew min",
       [](StepEvidence& e) { e.agents[0].skew_ns = std::numeric_limits<std::int64_t>::min(); },
       "off the common start"},
      {"client errors",
       [](StepEvidence& e) { e.outcomes[static_cast<std::size_t>(Outcome::kClientError)] = 1; },
       "by our own fault"},
      {"late", [](StepEvidence& e) { Idle(e, LaneState::kLate, 0.051); }, "load was offered"},
      {"dead-man", [](StepEvidence& e) { Idle(e, LaneState::kDeadMan, 0.051); }, "was offered"},
      {"no session", [](StepEvidence& e) { Idle(e, LaneState::kNoSession, 0.06); }, "was offered"},
      {"unaccounted",
       [](StepEvidence& e) { State(e, LaneState::kInFlight) -= e.planned_lane_ns / 10; },
       "was offered"},
      {"no time", [](StepEvidence& e) { e.planned_lane_ns = 0; }, "no lane-time was planned"},
      {"identity", [](StepEvidence& e) { e.identities[0].left = 601; },
       "do not add up: attempts = outcomes: 601 against 600"},
      {"lateness", [](StepEvidence& e) { e.agents[0].lateness_p99_ns = 50'000'001; },
       "generator-limited"},
      {"loop", [](StepEvidence& e) { e.agents[0].loop_lag_max_ns = 1'000'000'001; }, "stood still"},
      {"stalls", [](StepEvidence& e) { e.agents[0].loop_stalled_ns = e.plan.measure.count() / 49; },
       "of the measured time"},
      {"cpu", [](StepEvidence& e) { e.agents[0].cpu_share_max = 0.91; }, "91% of a core"},
      {"cpu NaN", [](StepEvidence& e) { e.agents[0].cpu_share_max = std::nan(""); }, "of a core"},
      {"thread", [](StepEvidence& e) { e.agents[0].host.thread_share_max = 0.91; },
       "a thread of agent 'agent-0' beside its event loop used 91% of a core"},
      {"thread NaN", [](StepEvidence& e) { e.agents[0].host.thread_share_max = std::nan(""); },
       "beside its event loop"},
      {"cores", [](StepEvidence& e) { e.agents[0].host = {.cores_used_max = 0.46, .cores = 0.5}; },
       "agent 'agent-0' used 0.46 of its 0.5 cores"},
      {"throttled",
       [](StepEvidence& e) { e.agents[0].host.throttled_ns = e.plan.measure.count() * 26 / 100; },
       "throttled by its control group's quota for 26.0% of the measured time, over 25%"},
      {"stolen",
       [](StepEvidence& e) { e.agents[0].host.stolen_ns = e.plan.measure.count() * 26 / 100; },
       "26.0% of the processor time of agent 'agent-0''s machine went to its host's other guests"},
      {"descriptors",
       [](StepEvidence& e) {
         e.agents[0].host.descriptors_max = 96;
         e.agents[0].host.descriptors_limit = 100;
       },
       "had 96 of its 100 descriptors open, over 95%"},
      {"ports",
       [](StepEvidence& e) {
         e.agents[0].host.ports_max = 961;
         e.agents[0].host.ports_limit = 1000;
       },
       "961 TCP sockets for its 1000 local ports, over 95%"},
      {"no ports at all",
       [](StepEvidence& e) {
         e.agents[0].host.ports_max = 1;
         e.agents[0].host.ports_limit = 0;
       },
       "local ports"},
      {"no agent", [](StepEvidence& e) { e.agents.clear(); }, "no agent reported"},
  };
  for (const VoidCase& c : cases) {
    SCOPED_TRACE(c.name);
    StepEvidence evidence = Healthy();
    for (CellCounts& cell : evidence.cells)
      cell.parts[0].hits = 0;  // Would fail; void comes first.
    c.change(evidence);
    const StepVerdict step = JudgeStep(evidence, DefaultBar());
    EXPECT_TRUE(step.is_void);
    EXPECT_EQ(step.verdict, Verdict::kNoData);
    ASSERT_FALSE(step.reasons.empty());
    EXPECT_THAT(step.reasons, ::testing::Contains(HasSubstr(c.reason)));
    ASSERT_EQ(step.parts.size(), 3u);
    for (const PartVerdict& part : step.parts) {
      EXPECT_EQ(part.verdict, Verdict::kNoData);
      EXPECT_THAT(part.reason, HasSubstr("void"));
    }
  }
}

TEST(JudgeStep, AtTheBoundsAStepStillCounts) {
  StepEvidence e = Healthy();
  e.agents[0].skew_ns = 100'000'000;
  e.agents[0].lateness_p99_ns = 50'000'000;
  e.agents[0].loop_lag_max_ns = 1'000'000'000;
  e.agents[0].loop_stalled_ns = e.plan.measure.count() / 50;
  e.agents[0].cpu_share_max = 0.9;
  e.agents[0].host = {.cores_used_max = 1.8,
                      .cores = 2.0,
                      .thread_share_max = 0.9,
                      .throttled_ns = e.plan.measure.count() / 4,
                      .stolen_ns = e.plan.measure.count() / 4,
                      .descriptors_max = 95,
                      .descriptors_limit = 100,
                      .ports_max = 950,
                      .ports_limit = 1000};
  e.outcomes[static_cast<std::size_t>(Outcome::kOk)] = 999;
  e.outcomes[static_cast<std::size_t>(Outcome::kClientError)] = 1;  // 0.1% exactly.
  Idle(e, LaneState::kLate, 0.05);
  const StepVerdict step = JudgeStep(e, DefaultBar());
  EXPECT_FALSE(step.is_void) << (step.reasons.empty() ? "" : step.reasons.front());
}

// A figure without what it is compared with, as some systems give, is no reason.
TEST(JudgeStep, WhatAMachineDoesNotSayIsNotHeldAgainstIt) {
  StepEvidence e = Healthy();
  e.agents[0].host = {.cores_used_max = 64.0, .descriptors_max = 1'000'000, .ports_max = 60'000};
  EXPECT_FALSE(JudgeStep(e, DefaultBar()).is_void);
  e.agents[0].host = {.cores = 0.1, .descriptors_limit = 1, .ports_limit = 1};
  EXPECT_FALSE(JudgeStep(e, DefaultBar()).is_void);
}

TEST(JudgeStep, RefusedLoadFailsOnErrorsAndNotOnSpeed) {
  StepEvidence e = Healthy();
  Idle(e, LaneState::kRefused, 0.4);
  for (CellCounts& cell : e.cells) {
    cell.attempts = 20;
    cell.failed = 8;
  }
  const StepVerdict step = JudgeStep(e, DefaultBar());
  EXPECT_FALSE(step.is_void);
  EXPECT_EQ(step.verdict, Verdict::kFail);
  EXPECT_NEAR(step.sent_share, 0.6, 1e-6);
  EXPECT_NEAR(step.offered_share, 1, 1e-6);
  EXPECT_EQ(step.parts[0].verdict, Verdict::kNoData);
  EXPECT_EQ(step.parts[1].verdict, Verdict::kNoData);
  EXPECT_EQ(step.parts[2].verdict, Verdict::kFail);
  EXPECT_THAT(step.parts[0].reason, HasSubstr("60.0% of the planned load was sent"));
  EXPECT_EQ(PartsWith(step, Verdict::kFail), "errors");
  ASSERT_EQ(step.reasons.size(), 1u);
  EXPECT_THAT(step.reasons[0], HasSubstr("errors: 400 of 1000 attempts failed"));
}

TEST(JudgeStep, LowSentShareWithoutErrorsIsNoData) {
  StepEvidence e = Healthy();
  Idle(e, LaneState::kRefused, 0.06);
  const StepVerdict step = JudgeStep(e, DefaultBar());
  EXPECT_EQ(step.verdict, Verdict::kNoData);
  EXPECT_FALSE(step.is_void);
  EXPECT_EQ(step.parts[2].verdict, Verdict::kPass);
}

TEST(JudgeStep, SlowCallsFailTheirPartOnly) {
  StepEvidence e = Healthy();
  for (CellCounts& cell : e.cells) cell.parts[0].hits = 7;
  const StepVerdict step = JudgeStep(e, DefaultBar());
  EXPECT_EQ(step.verdict, Verdict::kFail);
  EXPECT_EQ(PartsWith(step, Verdict::kFail), "TTFT");
  EXPECT_EQ(PartsWith(step, Verdict::kPass), "interactivity, errors");
}

TEST(JudgeStep, CloseIsSaidWithItsLean) {
  for (const auto& [within, lean] : {std::pair{11u, Lean::kPass}, std::pair{10u, Lean::kFail}}) {
    StepEvidence e = Healthy();
    for (CellCounts& cell : e.cells) {
      // 91.7% or 88.3% over all, uneven between lanes.
      cell.parts[0].hits = cell.lane % 2 == 0 ? 12 : within - 1;
      if (within == 10u && cell.lane % 5 == 0) cell.parts[0].hits -= 1;
    }
    const StepVerdict step = JudgeStep(e, DefaultBar());
    EXPECT_EQ(step.verdict, Verdict::kTooClose);
    EXPECT_EQ(step.parts[0].lean, lean);
    EXPECT_EQ(LeanOf(step), lean);
    EXPECT_LT(step.parts[0].share_low, 0.9);
    EXPECT_GT(step.parts[0].share_high, 0.9);
  }
}

TEST(JudgeStep, TooFewCallsAreNoData) {
  StepEvidence e = Healthy();
  e.cells.resize(3);
  for (CellCounts& cell : e.cells) cell.ttft_n = cell.parts[0].n = cell.parts[0].hits = 11;
  e.cells[0].parts[0].n = 13;  // 35.
  const StepVerdict step = JudgeStep(e, DefaultBar());
  EXPECT_EQ(step.parts[0].verdict, Verdict::kNoData);
  EXPECT_THAT(step.parts[0].reason, HasSubstr("35 calls, at least 36"));
  e.cells[0].parts[0].n = 14;
  EXPECT_NE(JudgeStep(e, DefaultBar()).parts[0].verdict, Verdict::kNoData);
}

TEST(JudgeStep, CallsWithoutUsageAreNotLeftOutInSilence) {
  StepEvidence e = Healthy();
  e.usage_missing = 6;  // Of 600: at the bound.
  EXPECT_TRUE(JudgeStep(e, DefaultBar()).holds());
  e.usage_missing = 7;
  const StepVerdict step = JudgeStep(e, DefaultBar());
  EXPECT_EQ(step.verdict, Verdict::kNoData);
  EXPECT_EQ(step.parts[0].verdict, Verdict::kPass);
  EXPECT_EQ(step.parts[1].verdict, Verdict::kNoData);
  EXPECT_THAT(step.parts[1].reason, HasSubstr("7 of 600 ok calls came without usage"));
  EXPECT_EQ(step.parts[2].verdict, Verdict::kPass);
}

TEST(JudgeStep, FailedCallsMakeThePercentileInfinite) {
  StepEvidence e = Healthy();
  for (CellCounts& cell : e.cells) {
    cell.parts[0].n = 15;
    cell.parts[1].n = 14;
    cell.attempts = 15;
    cell.failed = 3;
  }
  e.ttft_infinite = 150;
  e.rate_zero = 150;
  const StepVerdict step = JudgeStep(e, DefaultBar());
  EXPECT_TRUE(step.parts[0].value_infinite);
  EXPECT_FALSE(step.parts[0].value.has_value());
  EXPECT_FALSE(step.parts[0].margin.has_value());
  EXPECT_TRUE(step.parts[0].value_ok_only.has_value());
  EXPECT_THAT(step.parts[0].reason, HasSubstr("infinite"));
  EXPECT_EQ(step.parts[1].value, 0);
  EXPECT_GT(step.parts[1].value_ok_only.value(), 10);
  EXPECT_EQ(step.verdict, Verdict::kFail);
  EXPECT_EQ(PartsWith(step, Verdict::kFail), "TTFT, interactivity, errors");
}

TEST(JudgeStep, SenselessLimitsNeverPass) {
  const Limit limits[] = {
      {.metric = Metric::kTtft, .quantile = 0.9, .value = std::nan("")},
      {.metric = Metric::kTtft, .quantile = std::nan(""), .value = 5},
      {.metric = Metric::kTtft, .quantile = 1, .value = 5},
      {.metric = Metric::kErrors, .value = std::nan("")},
      {.metric = static_cast<Metric>(9), .quantile = 0.9, .value = 5},
  };
  for (const Limit& limit : limits) {
    const StepVerdict step = JudgeStep(Healthy(), {.limits = {limit}});
    EXPECT_EQ(step.verdict, Verdict::kNoData);
    EXPECT_FALSE(step.parts[0].reason.empty());
  }
}

TEST(JudgeStep, AnEmptyBarOrEmptyStepIsNoData) {
  EXPECT_EQ(JudgeStep(Healthy(), {}).verdict, Verdict::kNoData);
  EXPECT_EQ(JudgeStep({}, DefaultBar()).verdict, Verdict::kNoData);
  StepEvidence quiet = Healthy();
  quiet.cells.clear();
  const StepVerdict step = JudgeStep(quiet, DefaultBar());
  EXPECT_EQ(step.verdict, Verdict::kNoData);
  EXPECT_EQ(step.parts[2].reason, "no attempt was released");
}

TEST(JudgeStep, OneFailOutweighsMissingData) {
  StepEvidence e = Healthy();
  for (CellCounts& cell : e.cells) {
    cell.parts[1] = {};
    cell.parts[0].hits = 0;
  }
  const StepVerdict step = JudgeStep(e, DefaultBar());
  EXPECT_EQ(step.parts[1].verdict, Verdict::kNoData);
  EXPECT_EQ(step.verdict, Verdict::kFail);
}

TEST(Shares, NonsenseFromAnAgentStaysWithinZeroAndOne) {
  StepEvidence e = Healthy();
  State(e, LaneState::kLate) = std::numeric_limits<std::int64_t>::max();
  State(e, LaneState::kDeadMan) = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(OfferedShare(e), 0);
  State(e, LaneState::kInFlight) = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(SentShare(e), 0);
}

StepEvidence WithToolCalls(std::uint32_t answers, std::uint32_t invalid) {
  StepEvidence e = Healthy();
  for (CellCounts& cell : e.cells) {
    cell.tool_answers = answers;
    cell.tool_invalid = invalid;
  }
  return e;
}

TEST(JudgeStep, MalformedToolCallsFailTheirPartAlone) {
  Bar bar = DefaultBar();
  bar.limits.push_back({.metric = Metric::kToolCalls, .value = 0.02});
  StepVerdict step = JudgeStep(WithToolCalls(10, 0), bar);
  EXPECT_EQ(step.verdict, Verdict::kPass);
  EXPECT_EQ(step.parts[3].n, 500u);

  step = JudgeStep(WithToolCalls(10, 1), bar);
  EXPECT_EQ(step.verdict, Verdict::kFail);
  EXPECT_EQ(PartsWith(step, Verdict::kFail), "tool calls");
  EXPECT_THAT(step.reasons[0],
              HasSubstr("tool calls: 50 of 500 answers with tool calls were malformed: 10.00%"));

  step = JudgeStep(WithToolCalls(0, 0), bar);
  EXPECT_EQ(step.verdict, Verdict::kNoData) << "a missing measurement never passes";
  EXPECT_THAT(step.reasons[0], HasSubstr("no answer held a whole tool call"));
}

TEST(JudgeStep, ToolCallsUnderALighterLoadProveNothingUnlessTheyFail) {
  const Bar bar{.limits = {{.metric = Metric::kToolCalls, .value = 0.02}}};
  const auto lighter = [](StepEvidence e) {
    e.lane_state_ns = {};
    e.lane_state_ns[static_cast<std::size_t>(LaneState::kInFlight)] = e.planned_lane_ns / 2;
    e.lane_state_ns[static_cast<std::size_t>(LaneState::kRefused)] = e.planned_lane_ns / 2;
    return e;
  };
  EXPECT_EQ(JudgeStep(lighter(WithToolCalls(10, 0)), bar).verdict, Verdict::kNoData);
  EXPECT_EQ(JudgeStep(lighter(WithToolCalls(10, 5)), bar).verdict, Verdict::kFail);
}

TEST(VoidStep, SaysNothingOfALoadThatNobodyToldOf) {
  for (const bool lost : {true, false}) {
    StepEvidence e = testing::Healthy();
    e.lane_state_ns = {};
    e.agents[0].lost = true;
    e.agents.push_back({.slot = 1, .name = "agent-1", .lost = lost, .no_tally = true});
    for (const std::string& reason : JudgeStep(e, testing::DefaultBar()).reasons) {
      EXPECT_EQ(reason.find("offered"), std::string::npos) << reason;
    }
  }
}

}  // namespace
}  // namespace plimsoll
