// Evals in whole runs, in virtual time: asked before the first step and beside each, in none of the
// load's numbers, and blocking only on a confident fail.
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/sim/fleet_sim.h"
#include "tests/sim/run_words.h"
#include "tests/sim/sim_options.h"

namespace plimsoll {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kCases = 24;

std::string Set() {
  std::string text;
  for (std::uint32_t i = 0; i < kCases; ++i) {
    text += fmt::format(
        R"({{"id":"case-{}","kind":"{}","prompt":"What is {} + 1?","expect":{{"number":{}}},)"
        R"("reference":"{}","wrong":["{}"]}})"
        "\n",
        i, i % 2 == 0 ? "even" : "odd", i, i + 1, i + 1, i);
  }
  return text;
}

class EvalsSim : public testing::Test {
 protected:
  EvalsSim() {
    options = SmallRun();
    options.plan.evals = EvalPlan{.set_text = Set(), .share = 0.15};
    auto set = ReadEvalSet("sim", Set());
    EXPECT_TRUE(set.ok()) << set.status();
    options.evals = std::make_shared<const EvalSet>(*std::move(set));
    options.settings.mini_run = {.askers = 2, .at_once = 2, .limit = 60s};
    options.bar.evals = {.pass_rate = 0.8, .drop = 0.1};
    options.target.evals = &answers;
  }
  // Lanes now at play, by what the sweep has reached.
  void WrongFromLanes(std::uint32_t lanes, double share) {
    answers.answer = [this, lanes, share](const EvalCase& eval, MonoTime, std::size_t n) {
      const bool loaded = driver_sessions >= lanes;
      return loaded && Rng(MixKey(11, n)).Chance(share) ? WrongAnswer(eval) : RightAnswer(eval);
    };
  }
  RunResult Run() {
    sim = std::make_unique<FleetSim>(options);
    sim->Watch([this](const LiveStatus& status) { driver_sessions = status.sessions; });
    return sim->Run();
  }

  EvalAnswers answers;
  SimOptions options;
  std::uint32_t driver_sessions = 0;
  std::unique_ptr<FleetSim> sim;
};

TEST_F(EvalsSim, AllRightHoldsAndTheBooksAgree) {
  const RunResult result = Run();
  ASSERT_EQ(result.code, ExitCode::kHeld) << Explain(*sim, result);
  ExpectIdentities(result);
  ASSERT_EQ(result.steps.size(), 3u);
  for (const RunStep& step : result.steps) {
    const StepSummary& s = step.summary;
    ASSERT_TRUE(s.evals.has_value());
    EXPECT_EQ(s.evals->unloaded.passed(), kCases);
    EXPECT_GT(s.evals->loaded.judged(), 40u);
    EXPECT_EQ(s.evals->loaded.passed(), s.evals->loaded.judged());
    EXPECT_EQ(s.evals->verdict, Verdict::kPass) << s.evals->reason;
    const double asked = static_cast<double>(Asked(s.evals->loaded));
    EXPECT_NEAR(asked / (asked + static_cast<double>(s.errors.attempts)), 0.15, 0.02);
    ASSERT_EQ(s.evals->kinds.size(), 2u);
    EXPECT_EQ(s.evals->kinds[0].kind, "even");
    EXPECT_EQ(s.evals->kinds[0].loaded.judged() + s.evals->kinds[1].loaded.judged(),
              s.evals->loaded.judged());
    const auto named = std::count_if(s.identities.begin(), s.identities.end(), [](const auto& i) {
      return i.name.find("evals") != std::string::npos;
    });
    EXPECT_EQ(named, 2);
  }
  EXPECT_THAT(Explain(*sim, result), HasSubstr("evals without load: 24 of 24 right (100.0%)"));
}

TEST_F(EvalsSim, TheLoadsNumbersAreThoseOfARunWithoutThem) {
  options.settings.sessions = {6};
  // The mini run takes time: what drifts, or differs between two clocks, would drift to elsewhere.
  options.settings.agents = options.settings.mini_run.askers = 1;
  options.engine.noise.drift_sigma = 0;
  const RunResult with = Run();
  options.plan.evals.reset();
  options.evals = nullptr;
  options.settings.mini_run = {};
  const RunResult without = Run();
  ASSERT_EQ(with.steps.size(), 1u);
  ASSERT_EQ(without.steps.size(), 1u);
  const StepSummary& a = with.steps[0].summary;
  const StepSummary& b = without.steps[0].summary;
  EXPECT_FALSE(b.evals.has_value());
  // The fake answers evals beside its engine, which the load then meets as it did without.
  EXPECT_EQ(a.errors.attempts, b.errors.attempts);
  EXPECT_EQ(a.errors.outcomes, b.errors.outcomes);
  EXPECT_EQ(a.errors.error_share, b.errors.error_share);
  EXPECT_EQ(a.ttft.p90_s, b.ttft.p90_s);
  EXPECT_EQ(a.rate.reached_by_90_tok_s, b.rate.reached_by_90_tok_s);
  EXPECT_EQ(a.lane_state_share, b.lane_state_share);
  EXPECT_EQ(a.verdict.offered_share, b.verdict.offered_share);
  EXPECT_EQ(a.verdict.sent_share, b.verdict.sent_share);
  EXPECT_EQ(a.requests_in_flight_mean, b.requests_in_flight_mean);
  EXPECT_EQ(a.tokens_in, b.tokens_in);
}

TEST_F(EvalsSim, WrongUnderLoadFailsTheStepThatItBreaksAtAndNotTheOneBelow) {
  options.settings.target = 6;
  WrongFromLanes(6, 0.6);
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kMissed) << Explain(*sim, result);
  ASSERT_EQ(result.steps.size(), 2u);
  EXPECT_EQ(result.steps[0].summary.verdict.verdict, Verdict::kPass);
  const StepSummary& broken = result.steps[1].summary;
  EXPECT_EQ(broken.verdict.verdict, Verdict::kFail);
  EXPECT_EQ(broken.verdict.failed_beside, "evals");
  for (const PartVerdict& part : broken.verdict.parts) EXPECT_EQ(part.verdict, Verdict::kPass);
  ASSERT_EQ(broken.verdict.reasons.size(), 1u);
  EXPECT_THAT(broken.verdict.reasons[0], HasSubstr("evals: "));
  EXPECT_THAT(broken.verdict.reasons[0], HasSubstr("below 80.0%"));
  EXPECT_THAT(result.reason, HasSubstr("6 sessions miss (6.0 requests in flight): evals"));
  ASSERT_TRUE(broken.evals->change.has_value());
  EXPECT_LT(broken.evals->change->high, -0.1);
  ExpectIdentities(result);
}

TEST_F(EvalsSim, ALittleWorseIsTooCloseToCallAndBlocksNothing) {
  options.settings.sessions = {4};
  WrongFromLanes(4, 0.17);
  const RunResult result = Run();
  ASSERT_EQ(result.steps.size(), 1u);
  const StepSummary& s = result.steps[0].summary;
  EXPECT_EQ(s.evals->verdict, Verdict::kTooClose) << s.evals->reason;
  EXPECT_EQ(s.verdict.verdict, Verdict::kPass);
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(*sim, result);
}

TEST_F(EvalsSim, RefusedOnesAreUnansweredAndNotWrong) {
  options.settings.sessions = {4};
  options.bar.evals.drop.reset();  // Half as many answers say too little of it.
  answers.answer = [this](const EvalCase& eval, MonoTime, std::size_t n) {
    return driver_sessions > 0 && n % 2 == 0 ? Refusal() : RightAnswer(eval);
  };
  const RunResult result = Run();
  ASSERT_EQ(result.steps.size(), 1u);
  const EvalSummary& evals = *result.steps[0].summary.evals;
  EXPECT_GT(evals.loaded.of(EvalOutcome::kUnanswered), 15u);
  EXPECT_EQ(evals.loaded.passed(), evals.loaded.judged());
  EXPECT_EQ(evals.verdict, Verdict::kPass) << evals.reason;
  EXPECT_EQ(result.steps[0].summary.errors.error_share, 0) << "no call of the load failed";
  EXPECT_EQ(result.code, ExitCode::kHeld) << Explain(*sim, result);
}

TEST_F(EvalsSim, NoneAnsweredIsNoDataWhichBlocksNothing) {
  options.settings.sessions = {4};
  answers.answer = [](const EvalCase&, MonoTime, std::size_t) { return Refusal(); };
  const RunResult result = Run();
  ASSERT_EQ(result.steps.size(), 1u);
  EXPECT_EQ(result.steps[0].summary.evals->verdict, Verdict::kNoData);
  EXPECT_EQ(result.steps[0].summary.verdict.verdict, Verdict::kPass);
  EXPECT_THAT(Explain(*sim, result), HasSubstr("evals without load: none was answered"));
}

TEST_F(EvalsSim, WhatIsWrongWithoutLoadIsSaidBeforeTheFirstStep) {
  options.settings.sessions = {4};
  answers.answer = [](const EvalCase& eval, MonoTime, std::size_t) { return WrongAnswer(eval); };
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kMissed);
  EXPECT_THAT(Explain(*sim, result),
              HasSubstr("warning: evals without load: 0 of 24 right (0.0%); the bar asks for 80%"));
  EXPECT_THAT(result.steps[0].summary.verdict.reasons[0], HasSubstr("below 80.0%"));
}

TEST_F(EvalsSim, ASetThatTheAgentCannotReadEndsTheRunInWords) {
  options.plan.evals->set_text = "{\"id\":1}\n";
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kCouldNotRun);
  EXPECT_THAT(result.reason, HasSubstr("the plan's evals:1:"));
}

TEST_F(EvalsSim, AnAgentKilledInTheMiniRunEndsTheRun) {
  answers.service = 20s;
  sim = std::make_unique<FleetSim>(options);
  sim->KillAgentAt(5s, 1);
  const RunResult result = sim->Run();
  EXPECT_EQ(result.code, ExitCode::kCouldNotRun) << Explain(*sim, result);
  EXPECT_THAT(result.reason, HasSubstr("lost before the first step"));
}

TEST_F(EvalsSim, AMiniRunThatTakesTooLongCountsWhatHasCome) {
  options.settings.sessions = {4};
  answers.service = 18s;  // Two agents, two at once: 12 of 24 and 4 cut in a minute.
  const RunResult result = Run();
  ASSERT_EQ(result.steps.size(), 1u) << Explain(*sim, result);
  const EvalSummary& evals = *result.steps[0].summary.evals;
  EXPECT_EQ(evals.unloaded.passed(), 12u);
  EXPECT_EQ(evals.unloaded.of(EvalOutcome::kUnanswered), 4u);
  EXPECT_THAT(Explain(*sim, result), HasSubstr("4 evals of the mini run were not asked"));
}

TEST_F(EvalsSim, AnExtensionIsJudgedWithTheStepItExtends) {
  options.settings.sessions = {4};
  options.settings.extend = true;
  // A limit that the load is at, so that the step is too close and gets more time.
  const RunResult probe = Run();
  options.bar.limits[0].value = *probe.steps.at(0).summary.ttft.p90_s.value;
  const RunResult result = Run();
  ASSERT_EQ(result.steps.size(), 2u) << Explain(*sim, result);
  EXPECT_EQ(result.steps[1].summary.origin.kind, StepKind::kExtension);
  EXPECT_GT(result.steps[1].summary.evals->loaded.judged(),
            result.steps[0].summary.evals->loaded.judged() * 3 / 2);
  ExpectIdentities(result);
}

// Servers count evals as any request, and nothing on their pages tells them apart.
class ServedEvalsSim : public EvalsSim {
 protected:
  ServedEvalsSim() {
    options.settings.sessions = {4, 6};
    options.settings.step.measure = 100s;
    options.settings.step.block = 20s;
    options.settings.back_limit = 20s;
    options.engine.noise.drift_sigma = 0;
    options.bar.limits[0].quantile = options.bar.limits[1].quantile = 0.5;
    Renew();
  }
  ~ServedEvalsSim() override { sim.reset(); }  // It lets go of its servers.
  void Renew() {
    sim.reset();
    servers = std::make_unique<SimServers>();
    options.servers = servers.get();
  }
  std::unique_ptr<SimServers> servers;
};

TEST_F(ServedEvalsSim, AreInNoCountThatIsComparedAndNoVerdict) {
  for (const JudgeMode mode : {JudgeMode::kServer, JudgeMode::kBoth}) {
    options.server_rules.mode = mode;
    const RunResult result = Run();
    ASSERT_EQ(result.code, ExitCode::kHeld) << Explain(*sim, result);
    for (const RunStep& step : result.steps) {
      const StepSummary& s = step.summary;
      ASSERT_TRUE(s.server && s.evals);
      EXPECT_TRUE(s.server->findings.empty()) << s.server->findings.front();
      EXPECT_EQ(s.evals->verdict, Verdict::kPass) << s.evals->reason;
      for (const Suspicion& one : s.suspicions) {
        EXPECT_NE(one.check, SuspicionCheck::kCountsDisagree) << one.text;
      }
      const std::string asked = fmt::format("{} evals are left out", Asked(s.evals->loaded));
      const auto said = std::count_if(
          s.server->parts.begin(), s.server->parts.end(),
          [&](const auto& part) { return part.verdict.reason.find(asked) != std::string::npos; });
      EXPECT_EQ(said, 1) << asked << ": the gateway's errors";
    }
    EXPECT_EQ(result.drain->state, DrainState::kBack);
    Renew();
  }
}

TEST_F(ServedEvalsSim, AWrongAnswerFailsTheStepThatServersPass) {
  options.server_rules.mode = JudgeMode::kServer;
  WrongFromLanes(6, 0.6);
  const RunResult result = Run();
  EXPECT_EQ(result.code, ExitCode::kHeld) << "the first step: " << Explain(*sim, result);
  ASSERT_EQ(result.steps.size(), 2u);
  EXPECT_EQ(result.steps[1].summary.verdict.failed_beside, "evals");
  for (const PartVerdict& part : result.steps[1].summary.verdict.parts) {
    EXPECT_EQ(part.verdict, Verdict::kPass) << part.reason;
  }
}

TEST_F(ServedEvalsSim, TheLevelBeforeTheRunIsTheOneWithoutTheMiniRun) {
  // One call stays open from the first step on. Beside the two to four of the mini run that would
  // be no more than there was before.
  bool leaked = false;
  answers.service = 2s;
  servers->each_second = [&](Duration) {
    if (driver_sessions > 0 && !std::exchange(leaked, true)) ++servers->envoy.open;
  };
  const RunResult result = Run();
  ASSERT_TRUE(leaked);
  ASSERT_TRUE(result.drain.has_value());
  EXPECT_EQ(result.drain->state, DrainState::kNotBack) << Explain(*sim, result);
  for (const DrainGauge& gauge : result.drain->gauges) {
    EXPECT_EQ(gauge.before, 0) << gauge.target;
  }
}

}  // namespace
}  // namespace plimsoll
