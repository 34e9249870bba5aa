// A step judged from servers' pages: errors, what no server counts, what is said beside verdicts,
// and what ends a sweep.
#include <string>
#include <utility>
#include <vector>

#include "coordinator/serverjudge/judge_server.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/serverjudge/served_rig.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Client;
using ::plimsoll::testing::Errors;
using ::plimsoll::testing::Judge;
using ::plimsoll::testing::Judged;
using ::plimsoll::testing::kBlock;
using ::plimsoll::testing::kBlocks;
using ::plimsoll::testing::kFrom;
using ::plimsoll::testing::kTo;
using ::plimsoll::testing::Rig;
using ::plimsoll::testing::Speed;
using ::plimsoll::testing::Ttft;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

TEST(JudgeServerTest, RefusalsInFrontAreInvisibleToTheEngineAndFailAtTheGateway) {
  Rig rig;
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    if (second % 2 == 0) ++rig.envoy->errors;
  };
  const ClientLoad load{.sessions = 60,
                        .attempts = 750,
                        .first_tokens = 600,
                        .ok = 600,
                        .refused = 150,
                        .in_flight = 5};
  const SignalHistory history = rig.Run();
  const Judged server =
      Judge(history, JudgeMode::kServer, {Client(Errors(0.02), Verdict::kFail)}, load);
  EXPECT_EQ(server.part().verdict, Verdict::kFail) << server.part().reason;
  EXPECT_THAT(server.part().reason,
              HasSubstr("gateway: 150 of 750 requests were answered with an error status"));
  // The engine's page alone has no count of errors: no data, never a pass.
  Rig alone(1, false);
  alone.each = [&](int second) { alone.Steady(second, 0, 0.3, 0); };
  const SignalHistory engine_only = alone.Run();
  const Judged blind =
      Judge(engine_only, JudgeMode::kServer, {Client(Errors(0.02), Verdict::kFail)}, load);
  EXPECT_EQ(blind.part().verdict, Verdict::kNoData) << blind.part().reason;
  EXPECT_EQ(Judge(engine_only, JudgeMode::kBoth, {Client(Errors(0.02), Verdict::kFail)}, load)
                .part()
                .verdict,
            Verdict::kFail);
}

TEST(JudgeServerTest, AGoodStatusIsNoContradictionOfAnAnswerThatBrokeOff) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const SignalHistory history = rig.Run();
  const Judged both = Judge(history, JudgeMode::kBoth, {Client(Errors(0.02), Verdict::kFail)});
  EXPECT_EQ(both.part().verdict, Verdict::kFail);
  EXPECT_EQ(both.part().reason, "as the client saw it");
  EXPECT_EQ(both.Of(PartSource::kGateway).verdict, Verdict::kPass);
}

TEST(JudgeServerTest, CallersWhoGaveUpAfterAGoodStatusKeepErrorsFromAPass) {
  // A tenth of the calls hang after their headers, and are given up.
  const auto judge = [](bool counted, std::uint64_t known, Verdict client, JudgeMode mode) {
    Rig rig;
    rig.each = [&rig, counted](int second) {
      rig.Steady(second, 0, 0.3, 0);
      if (second % 5 != 0) return;
      ++rig.envoy->accepted;
      if (counted) ++rig.envoy->hung_up;
    };
    return Judge(
        rig.Run(), mode,
        {Client(Errors(0.03), client), Client(Ttft(5.3), client), Client(Speed(10), client)},
        {.sessions = 60,
         .attempts = 660,
         .first_tokens = 600,
         .ok = 600,
         .hung_up = known,
         .unanswered = known,
         .in_flight = 5});
  };
  // By the gateway's counter, by what agents know, and by both.
  for (const auto& [counted, known] : {std::pair{true, 0u}, {false, 60u}, {true, 60u}}) {
    const Judged judged = judge(counted, known, Verdict::kFail, JudgeMode::kServer);
    EXPECT_EQ(judged.part().verdict, Verdict::kTooClose) << judged.part().reason;
    EXPECT_THAT(judged.part().reason, HasSubstr("the 60 requests for errors that their callers "
                                                "gave up, and it turns on them"));
    EXPECT_EQ(judged.part().lean, Lean::kNone);
    EXPECT_EQ(judged.part().value, 0);
    // Nor does it contradict anybody.
    EXPECT_EQ(judge(counted, known, Verdict::kPass, JudgeMode::kBoth).part().verdict,
              Verdict::kPass);
  }
  // Without a first token they are slow ones too: a P90 does not pass by leaving out a tenth.
  const Judged judged = judge(true, 60, Verdict::kFail, JudgeMode::kServer);
  for (const std::size_t part : {1u, 2u}) {
    EXPECT_EQ(judged.part(part).verdict, Verdict::kTooClose) << judged.part(part).reason;
    EXPECT_THAT(judged.part(part).reason, HasSubstr("60 more were given up by their callers"));
  }
  // A few are no reason.
  Rig few;
  few.each = [&](int second) {
    few.Steady(second, 0, 0.3, 0);
    if (second == 100) ++few.envoy->hung_up;
  };
  const Judged healthy =
      Judge(few.Run(), JudgeMode::kServer, {Client(Errors(0.03), Verdict::kPass)});
  EXPECT_EQ(healthy.part().verdict, Verdict::kPass) << healthy.part().reason;
  EXPECT_THAT(healthy.part().reason, HasSubstr("takes the 1 requests for errors"));
}

TEST(JudgeServerTest, ACallWithoutAnErrorStatusInFrontOfAGatewayThatMissesCallsProvesNothing) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const Judged judged =
      Judge(rig.Run(), JudgeMode::kServer, {Client(Errors(0.02), Verdict::kFail)},
            {.sessions = 60, .attempts = 900, .first_tokens = 600, .ok = 600, .in_flight = 5});
  EXPECT_EQ(judged.part().verdict, Verdict::kNoData);
  EXPECT_THAT(judged.part().reason, HasSubstr("turned away in front of it"));
}

TEST(JudgeServerTest, ALighterLoadHasNoLatencyWhateverTheServerShows) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const Judged judged = Judge(rig.Run(), JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kNoData)},
                              {.sessions = 60,
                               .attempts = 600,
                               .first_tokens = 600,
                               .ok = 600,
                               .in_flight = 5,
                               .sent_share = 0.5});
  EXPECT_EQ(judged.part().verdict, Verdict::kNoData);
  EXPECT_THAT(judged.part().reason, HasSubstr("only 50.0% of the planned load was sent"));
}

TEST(JudgeServerTest, WhatNoServerCountsIsNoDataOfTheServer) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const SignalHistory history = rig.Run();
  Limit tier = Ttft(5.3);
  tier.tier = "heavy";
  Limit tools{.metric = Metric::kToolCalls, .quantile = 0, .value = 0.01, .tier = "", .origin = {}};
  for (const Limit& limit : {tier, tools}) {
    EXPECT_EQ(Judge(history, JudgeMode::kServer, {Client(limit, Verdict::kPass)}).part().verdict,
              Verdict::kNoData);
    EXPECT_EQ(Judge(history, JudgeMode::kBoth, {Client(limit, Verdict::kPass)}).part().verdict,
              Verdict::kPass);
  }
}

TEST(JudgeServerTest, GapsStandInForRequestsAndNeverContradict) {
  Rig rig;
  rig.each = [&](int second) {
    rig.engine().has_per_token = false;
    rig.Steady(second, 0, 0.3, 0);
  };
  const Judged judged = Judge(rig.Run(), JudgeMode::kServer, {Client(Speed(10), Verdict::kPass)});
  // vLLM without its per-request histogram and without gaps on this page.
  EXPECT_EQ(judged.part().verdict, Verdict::kNoData);
  EXPECT_THAT(judged.part().reason, HasSubstr("the name is not on the page"));
}

TEST(JudgeServerTest, AVoidStepStaysVoidAndStillSaysWhatWasNotGot) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const SignalHistory history = rig.Run();
  StepVerdict client{.is_void = true,
                     .reasons = {"an agent was lost"},
                     .parts = {Client(Ttft(5.3), Verdict::kNoData)}};
  const ServerStep step{.mode = JudgeMode::kServer,
                        .history = history,
                        .spans = {{kFrom, kTo, kTo + 20s, kBlock}},
                        .begin = MonoTime{},
                        .end = kTo,
                        .kv_full = {}};
  const ServerJudgement judged = JudgeServer(step, client, {});
  EXPECT_TRUE(judged.verdict.is_void);
  EXPECT_EQ(judged.verdict.reasons, client.reasons);
  EXPECT_TRUE(judged.summary.parts.empty());
  EXPECT_FALSE(judged.summary.not_got.empty());  // Envoy has no TTFT.
}

TEST(JudgeServerTest, WantedAndNotGotSaysWhichKindOfMissingItIs) {
  Rig rig;
  rig.each = [&](int second) {
    rig.engine().has_ttft = false;
    rig.Steady(second, 0, 0.3, 0);
  };
  const Judged judged =
      Judge(rig.Run(), JudgeMode::kBoth,
            {Client(Ttft(5.3), Verdict::kPass), Client(Errors(0.02), Verdict::kPass)});
  const auto missing = [&](PartSource source, Signal signal) {
    for (const NotGotSignal& one : judged.judgement.summary.not_got) {
      if (one.source == source && one.signal == signal) return one.missing;
    }
    return Missing::kNot;
  };
  EXPECT_EQ(missing(PartSource::kEngines, Signal::kTtft), Missing::kNoName);
  EXPECT_EQ(missing(PartSource::kEngines, Signal::kErrors), Missing::kNoName);
  EXPECT_EQ(missing(PartSource::kGateway, Signal::kTtft), Missing::kByDesign);
  EXPECT_EQ(missing(PartSource::kGateway, Signal::kRefused), Missing::kByDesign);
  EXPECT_EQ(missing(PartSource::kGateway, Signal::kOpenRequests), Missing::kNot);
  EXPECT_EQ(missing(PartSource::kEngines, Signal::kKvFill), Missing::kNot);
}

TEST(JudgeServerTest, FamiliesThatAreGoneForAWhileAreResetsAndNoFalseFindings) {
  Rig rig(2);
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    FakeEngine& engine = rig.engine(1);
    engine.has_ttft = engine.has_counters = second < 100 || second >= 120;
  };
  const Judged judged =
      Judge(rig.Run(), JudgeMode::kServer,
            {Client(Ttft(5.3), Verdict::kPass), Client(Errors(0.02), Verdict::kPass)});
  const ServerSummary& server = judged.judgement.summary;
  EXPECT_TRUE(server.findings.empty()) << server.findings.front();
  EXPECT_EQ(judged.part().verdict, Verdict::kNoData);
  ASSERT_EQ(server.outcomes.size(), 1u);
  EXPECT_EQ(server.outcomes[0].target, "engine-1");
  EXPECT_EQ(server.outcomes[0].continuity, Continuity::kReset);
  EXPECT_THAT(server.outcomes[0].why, HasSubstr("is gone"));
  // What was counted from 0 again is no number of the step.
  EXPECT_EQ(server.Find(PartSource::kEngines, Signal::kFinished), nullptr);
  EXPECT_NE(server.Find(PartSource::kEngines, Signal::kKvFill), nullptr);
  EXPECT_NE(server.Find(PartSource::kGateway, Signal::kAccepted), nullptr);
  EXPECT_THAT(server.not_got,
              Contains(AllOf(::testing::Field(&NotGotSignal::signal, Signal::kTtft),
                             ::testing::Field(&NotGotSignal::target, "engine-1"),
                             ::testing::Field(&NotGotSignal::missing, Missing::kReset))));
}

TEST(JudgeServerTest, WorkNobodyWaitsForIsFound) {
  Rig rig;
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    rig.engine().running = 12;
    rig.envoy->open = 5;
  };
  const Judged judged = Judge(rig.Run(), JudgeMode::kBoth, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_THAT(judged.judgement.summary.findings, Contains(HasSubstr("work that nobody waits for")));
}

TEST(JudgeServerTest, AFullKvCacheEndsTheSweepAfterThirtySeconds) {
  const auto event = [](double kv, int from, int to) {
    Rig rig;
    rig.each = [&rig, kv, from, to](int second) {
      rig.Steady(second, 0, 0.3, 0);
      rig.engine().kv = second >= from && second < to ? kv : 0.4;
    };
    return Judge(rig.Run(), JudgeMode::kClient, {Client(Ttft(5.3), Verdict::kPass)})
        .judgement.summary;
  };
  const ServerSummary full = event(0.96, 95, 145);
  EXPECT_EQ(full.ends_sweep, SweepEvent::kKvCacheFull);
  EXPECT_THAT(full.ends_why, AllOf(HasSubstr("95%"), HasSubstr("40s")));
  EXPECT_EQ(event(0.96, 95, 115).ends_sweep, SweepEvent::kNone);
  EXPECT_EQ(event(0.94, 0, 300).ends_sweep, SweepEvent::kNone);
}

TEST(JudgeServerTest, RefusalsThatGoOnEndTheSweepByTheErrorsOfAGatewayThatCountsNone) {
  // Envoy has no count of refusals: every tenth answer is an error.
  const auto end = [](int from_s, std::uint64_t refused, EvalTraffic evals) {
    Rig rig;
    rig.each = [&rig, from_s](int second) {
      rig.Steady(second, 0, 0.3, 0);
      if (second >= from_s && second % 5 == 0) ++rig.envoy->errors;
    };
    return Judge(rig.Run(), JudgeMode::kBoth, {Client(Ttft(5.3), Verdict::kPass)},
                 {.sessions = 60,
                  .attempts = 660,
                  .first_tokens = 600,
                  .ok = 600,
                  .refused = refused,
                  .in_flight = 5,
                  .evals = std::move(evals)})
        .judgement.summary;
  };
  const ServerSummary sustained = end(0, 60, {});
  EXPECT_EQ(sustained.ends_sweep, SweepEvent::kRefusals);
  EXPECT_THAT(sustained.ends_why,
              HasSubstr("60 of 660 requests were refused, in each of 5 blocks"));
  EXPECT_EQ(end(100, 40, {}).ends_sweep, SweepEvent::kNone) << "not in every block";
  EXPECT_EQ(end(0, 0, {}).ends_sweep, SweepEvent::kNone) << "errors, and no refusals";
  // All of them evals': none of the load was turned away.
  EvalTraffic evals;
  for (int i = 0; i < 60; ++i) {
    evals.Add(EvalRecord{.http_status = 503, .call = Outcome::kRefused});
  }
  EXPECT_EQ(end(0, 60, evals).ends_sweep, SweepEvent::kNone);
}

TEST(JudgeServerTest, AShortPeakOfAnEngineThatIsGoneThenIsNoFullKvCache) {
  const auto end = [](int peak_s, bool other) {
    Rig rig(2);
    rig.each = [&rig, peak_s, other](int second) {
      rig.Steady(second, 0, 0.3, 0);
      const bool peak = second >= 95 && second < 95 + peak_s;
      rig.engine(0).kv = peak ? 0.97 : 0.4;
      rig.engine(1).kv = other && peak ? 0.2 : 0.4;
      if (second == 95 + peak_s) rig.engine(0).down = true;
    };
    return Judge(rig.Run(), JudgeMode::kBoth, {Client(Ttft(5.3), Verdict::kPass)})
        .judgement.summary;
  };
  EXPECT_EQ(end(15, false).ends_sweep, SweepEvent::kNone) << end(15, false).ends_why;
  // Full for long enough before it went.
  EXPECT_EQ(end(50, true).ends_sweep, SweepEvent::kKvCacheFull);
  EXPECT_THAT(end(50, true).ends_why, AllOf(HasSubstr("40s"), HasSubstr("engine-0")));
}

TEST(JudgeServerTest, TheFirstAndSecondMeasuredTimeOfAnExtensionAreJudgedAsOne) {
  Rig rig;
  rig.each = [&](int second) {
    // Between the two measured times nothing counts.
    const bool gap = second >= kBlocks * 60 && second < kBlocks * 60 + 60;
    for (int k = 0; k < 2; ++k) rig.Answer(0, gap ? 8 : 0.3);
  };
  const SignalHistory history = rig.Run(kBlocks * 120 + 120);
  const MonoTime second_from = kTo + 60s;
  StepVerdict client{.parts = {Client(Ttft(5.3), Verdict::kTooClose)}, .sent_share = 1};
  const ServerStep step{.mode = JudgeMode::kServer,
                        .history = history,
                        .spans = {{kFrom, kTo, kTo + 10s, kBlock},
                                  {second_from, second_from + kBlocks * kBlock,
                                   second_from + kBlocks * kBlock + 10s, kBlock}},
                        .begin = MonoTime{},
                        .end = second_from + kBlocks * kBlock,
                        .kv_full = {}};
  const ServerJudgement judged = JudgeServer(
      step, client,
      {.sessions = 60, .attempts = 1200, .first_tokens = 1200, .ok = 1200, .in_flight = 5});
  EXPECT_EQ(judged.verdict.parts[0].verdict, Verdict::kPass) << judged.verdict.parts[0].reason;
  EXPECT_EQ(judged.verdict.parts[0].n, 1200u);
}

}  // namespace
}  // namespace plimsoll
