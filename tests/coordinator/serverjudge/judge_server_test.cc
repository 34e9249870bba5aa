// A step judged from pages of servers that count what the test tells them: each rule of section 3
// of the design, and the rows of its table of faults that are about servers' pages.
#include "coordinator/serverjudge/judge_server.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/serverjudge/fake_servers.h"

namespace plimsoll {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr Duration kBlock = 60s;
constexpr int kBlocks = 5;
// The measured time begins at 120 s; pages come every ten seconds.
constexpr MonoTime kFrom{120s};
constexpr MonoTime kTo = kFrom + kBlocks * kBlock;

Limit Ttft(double seconds) {
  return {.metric = Metric::kTtft, .quantile = 0.9, .value = seconds, .tier = "", .origin = {}};
}
Limit Speed(double tok_s) {
  return {
      .metric = Metric::kInteractivity, .quantile = 0.9, .value = tok_s, .tier = "", .origin = {}};
}
Limit Errors(double share) {
  return {.metric = Metric::kErrors, .quantile = 0, .value = share, .tier = "", .origin = {}};
}

PartVerdict Client(const Limit& limit, Verdict verdict) {
  return {.limit = limit, .verdict = verdict, .reason = "as the client saw it", .n = 600};
}

// A rig of servers under a steady load of two requests a second.
struct Rig {
  std::vector<std::unique_ptr<FakeEngine>> engines;
  std::unique_ptr<FakeEnvoy> envoy;
  // What happens in each second: `second` counts from the measured time's start, below 0 before.
  std::function<void(int second)> each = [](int) {};

  explicit Rig(int copies = 1, bool gateway = true) {
    for (int i = 0; i < copies; ++i) {
      engines.push_back(std::make_unique<FakeEngine>("engine-" + std::to_string(i)));
    }
    if (gateway) envoy = std::make_unique<FakeEnvoy>();
  }
  FakeEngine& engine(int i = 0) { return *engines[static_cast<std::size_t>(i)]; }

  // One request, answered by engine `i`.
  void Answer(int i, double ttft_s, double per_token_s = 0.02) {
    engine(i).Answer(ttft_s, per_token_s);
    if (envoy) ++envoy->accepted;
  }
  // Every `bad_of_ten`-th of ten requests gets its first token after `bad_s`.
  void Steady(int second, int bad_of_twenty, double good_s, double bad_s) {
    for (int k = 0; k < 2; ++k) {
      const int which = (second * 2 + k) % 20;
      const auto copy = static_cast<int>(static_cast<std::size_t>(second + 1000) % engines.size());
      Answer(copy, which < bad_of_twenty ? bad_s : good_s);
    }
  }

  SignalHistory Run(int until_s = kBlocks * 60 + 60) {
    for (int second = -120; second <= until_s; ++second) {
      if (second % 10 == 0) {
        const MonoTime at = kFrom + second * 1s;
        for (const auto& engine : engines) engine->Scrape(at);
        if (envoy) envoy->Scrape(at);
      }
      each(second);
    }
    std::vector<const FakeTarget*> all;
    for (const auto& engine : engines) all.push_back(engine.get());
    if (envoy) all.push_back(envoy.get());
    return HistoryFrom(all);
  }
};

struct Judged {
  ServerJudgement judgement;
  const PartVerdict& part(std::size_t i = 0) const { return judgement.verdict.parts[i]; }
  // What a source alone says of part `i`; fails the test without one.
  PartVerdict Of(PartSource source, std::size_t i = 0) const {
    for (const SourcePart& one : judgement.summary.parts) {
      if (one.source == source && one.part == i) return one.verdict;
    }
    ADD_FAILURE() << "no part of " << Name(source);
    return {};
  }
};

Judged Judge(const SignalHistory& history, JudgeMode mode, const std::vector<PartVerdict>& parts,
             ClientLoad load = {.attempts = 600, .first_tokens = 600, .ok = 600, .in_flight = 5}) {
  StepVerdict client{.parts = parts, .offered_share = 1, .sent_share = load.sent_share};
  client.verdict = VerdictOf(parts);
  const ServerStep step{.mode = mode,
                        .history = history,
                        .spans = {{.from = kFrom, .to = kTo, .ended = kTo + 20s, .block = kBlock}},
                        .begin = MonoTime{},
                        .end = kTo + 60s,
                        .kv_full = {}};
  return {JudgeServer(step, client, load)};
}

TEST(JudgeServerTest, AHealthyServerAgreesAndItsNumbersStandBesideTheClients) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const SignalHistory history = rig.Run();
  for (const JudgeMode mode : {JudgeMode::kClient, JudgeMode::kServer, JudgeMode::kBoth}) {
    const Judged judged =
        Judge(history, mode,
              {Client(Ttft(5.3), Verdict::kPass), Client(Speed(10), Verdict::kPass),
               Client(Errors(0.02), Verdict::kPass)});
    EXPECT_EQ(judged.judgement.verdict.verdict, Verdict::kPass) << Name(mode);
    EXPECT_TRUE(judged.judgement.summary.findings.empty());
    EXPECT_TRUE(judged.judgement.summary.outcomes.empty());
    const PartVerdict ttft = judged.Of(PartSource::kEngines, 0);
    EXPECT_EQ(ttft.verdict, Verdict::kPass) << ttft.reason;
    EXPECT_EQ(ttft.n, 600u);
    EXPECT_EQ(ttft.value_high.value, 0.5);
    EXPECT_EQ(ttft.value_low.value, 0.25);
    EXPECT_EQ(judged.Of(PartSource::kEngines, 1).verdict, Verdict::kPass);
    EXPECT_EQ(judged.Of(PartSource::kGateway, 2).verdict, Verdict::kPass)
        << judged.Of(PartSource::kGateway, 2).reason;
    EXPECT_EQ(judged.Of(PartSource::kClient, 0).reason, "as the client saw it");
  }
}

TEST(JudgeServerTest, JudgeServerStandsOnTheServersNumbersAlone) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 6, 0.3, 8); };  // 30% miss.
  const Judged judged =
      Judge(rig.Run(), JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kTooClose)});
  EXPECT_EQ(judged.part().verdict, Verdict::kFail) << judged.part().reason;
  EXPECT_THAT(judged.part().reason,
              AllOf(HasSubstr("engines: of 600 first tokens 70.0% came within 5 s"),
                    HasSubstr("limit 5.3 s")));
  EXPECT_EQ(judged.part().n, 600u);
  EXPECT_NEAR(judged.part().share_within, 0.7, 1e-9);
}

TEST(JudgeServerTest, TheTwoDisagreeOnlyWhereOnePassesAndTheOtherFails) {
  Rig slow;
  slow.each = [&](int second) { slow.Steady(second, 6, 0.3, 8); };
  const SignalHistory history = slow.Run();
  struct Row {
    Verdict client;
    Verdict merged;
  };
  for (const Row& row :
       {Row{Verdict::kPass, Verdict::kTooClose}, Row{Verdict::kFail, Verdict::kFail},
        Row{Verdict::kTooClose, Verdict::kTooClose}, Row{Verdict::kNoData, Verdict::kNoData}}) {
    const Judged judged = Judge(history, JudgeMode::kBoth, {Client(Ttft(5.3), row.client)});
    EXPECT_EQ(judged.part().verdict, row.merged) << Name(row.client);
    if (row.client != Verdict::kPass) {
      EXPECT_EQ(judged.part().reason, "as the client saw it");
    }
  }
  const Judged apart = Judge(history, JudgeMode::kBoth, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_THAT(apart.part().reason, AllOf(HasSubstr("contradict each other"),
                                         HasSubstr("client: pass (as the client saw it)"),
                                         HasSubstr("server: fail (engines: of 600")));
  EXPECT_EQ(apart.judgement.verdict.verdict, Verdict::kTooClose);
  EXPECT_THAT(apart.judgement.verdict.reasons, Contains(HasSubstr("TTFT: client and server")));
  EXPECT_EQ(apart.part().lean, Lean::kFail);
}

TEST(JudgeServerTest, BucketsThatCannotDecideLeaveTheClientsVerdictOrAreTooClose) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 4, 0.3, 6); };  // 20% between 5 and 7.5 s.
  const SignalHistory history = rig.Run();
  const Judged server = Judge(history, JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_EQ(server.part().verdict, Verdict::kTooClose);
  EXPECT_THAT(server.part().reason,
              AllOf(HasSubstr("cannot be resolved"), HasSubstr("between the edges 5 and 7.5 s")));
  EXPECT_EQ(server.part().lean, Lean::kNone);
  const Judged both = Judge(history, JudgeMode::kBoth, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_EQ(both.part().verdict, Verdict::kPass);
  EXPECT_EQ(both.part().reason, "as the client saw it");
  EXPECT_EQ(both.Of(PartSource::kEngines).verdict, Verdict::kTooClose);
  // The same counts at limits that are edges.
  EXPECT_EQ(Judge(history, JudgeMode::kServer, {Client(Ttft(7.5), Verdict::kPass)}).part().verdict,
            Verdict::kPass);
  EXPECT_EQ(Judge(history, JudgeMode::kServer, {Client(Ttft(5), Verdict::kPass)}).part().verdict,
            Verdict::kFail);
}

TEST(JudgeServerTest, AMissingPageIsNoDataOfTheServersPartAndSaidByTarget) {
  Rig rig(2);
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    if (second == 250) rig.engine(1).down = true;
  };
  const SignalHistory history = rig.Run();
  const Judged server = Judge(history, JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_EQ(server.part().verdict, Verdict::kNoData);
  EXPECT_THAT(server.part().reason,
              AllOf(HasSubstr("engine-1"), HasSubstr("the page could not be read"),
                    HasSubstr("connection refused")));
  EXPECT_EQ(server.judgement.verdict.verdict, Verdict::kNoData);
  const Judged both = Judge(history, JudgeMode::kBoth, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_EQ(both.part().verdict, Verdict::kPass);
  EXPECT_THAT(both.judgement.summary.not_got,
              Contains(testing::Field(&NotGotSignal::target, "engine-1")));
  for (const NotGotSignal& missing : both.judgement.summary.not_got) {
    if (missing.target == "engine-1") {
      EXPECT_EQ(missing.missing, Missing::kNoPage);
    }
  }
}

TEST(JudgeServerTest, ARestartIsAnOutcomeOfTheStepAndNoData) {
  Rig rig;
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    if (second == 150) rig.engine().Restart();
  };
  const Judged judged =
      Judge(rig.Run(), JudgeMode::kServer,
            {Client(Ttft(5.3), Verdict::kPass), Client(Errors(0.02), Verdict::kPass)});
  EXPECT_EQ(judged.part().verdict, Verdict::kNoData);
  EXPECT_THAT(judged.part().reason, HasSubstr("engine-0: the process restarted"));
  ASSERT_EQ(judged.judgement.summary.outcomes.size(), 1u);
  EXPECT_EQ(judged.judgement.summary.outcomes[0].continuity, Continuity::kRestarted);
  // The gateway's own counters went on.
  EXPECT_EQ(judged.part(1).verdict, Verdict::kPass) << judged.part(1).reason;
}

TEST(JudgeServerTest, APageThatStandsStillObservesNothing) {
  Rig rig(2);
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    rig.engine(0).running = rig.engine(1).running = 3;
    if (second == -20) rig.engine(1).frozen = true;
  };
  const Judged judged = Judge(rig.Run(), JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_EQ(judged.part().verdict, Verdict::kNoData);
  EXPECT_THAT(judged.part().reason,
              AllOf(HasSubstr("engine-1"), HasSubstr("nothing was observed")));
}

TEST(JudgeServerTest, ACopyThatWasIdleLacksNothingUnlessCallsAreMissing) {
  Rig rig(2);
  rig.each = [&](int) {
    for (int k = 0; k < 2; ++k) rig.Answer(0, 0.3);
  };
  const SignalHistory history = rig.Run();
  const Judged judged = Judge(history, JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_EQ(judged.part().verdict, Verdict::kPass) << judged.part().reason;
  EXPECT_TRUE(judged.judgement.summary.not_got.empty() ||
              judged.judgement.summary.not_got[0].target == "gateway-0");
  // Twice as many calls were answered: whoever looks idle is not.
  const Judged half = Judge(history, JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)},
                            {.attempts = 1200, .first_tokens = 1200, .ok = 1200, .in_flight = 10});
  EXPECT_EQ(half.part().verdict, Verdict::kNoData);
  EXPECT_THAT(half.part().reason, HasSubstr("observed 600 first tokens, and 1200 calls got one"));
}

TEST(JudgeServerTest, OpenRequestsCountAgainstItUntilTheyAreSeen) {
  // 5% miss, and 60 requests are open at the end of the measured time.
  const auto run = [](int bad_later, int good_later) {
    Rig rig;
    rig.each = [&rig, bad_later, good_later](int second) {
      if (second < kBlocks * 60) rig.Steady(second, 1, 0.3, 8);
      const bool open = second >= kBlocks * 60 - 10 && second < kBlocks * 60 + 10;
      rig.envoy->open = open ? 60 : 0;
      if (second == kBlocks * 60 - 10) rig.envoy->accepted += 60;
      if (second != kBlocks * 60 + 5) return;
      for (int i = 0; i < bad_later; ++i) rig.engine().Answer(30);
      for (int i = 0; i < good_later; ++i) rig.engine().Answer(0.3);
    };
    return rig.Run();
  };
  ClientLoad load{.attempts = 600, .first_tokens = 600, .ok = 600, .in_flight = 40};
  const auto judge = [&](const SignalHistory& history, Duration ended) {
    const std::vector<PartVerdict> parts{Client(Ttft(5), Verdict::kPass)};
    StepVerdict client{.parts = parts, .sent_share = 1};
    const ServerStep step{.mode = JudgeMode::kServer,
                          .history = history,
                          .spans = {{kFrom, kTo, kTo + ended, kBlock}},
                          .begin = MonoTime{},
                          .end = kTo + 60s,
                          .kv_full = {}};
    return JudgeServer(step, client, load).verdict.parts[0];
  };
  const PartVerdict kept = judge(run(0, 60), 20s);
  EXPECT_EQ(kept.verdict, Verdict::kPass) << kept.reason;
  const PartVerdict missed = judge(run(60, 0), 20s);
  EXPECT_EQ(missed.verdict, Verdict::kTooClose) << missed.reason;
  EXPECT_THAT(missed.reason, AllOf(HasSubstr("turns on the requests that were still open"),
                                   HasSubstr("60 were open at the end")));
  // No page came after they had ended: nobody knows.
  const PartVerdict unseen = judge(run(0, 60), 600s);
  EXPECT_EQ(unseen.verdict, Verdict::kTooClose) << unseen.reason;
}

TEST(JudgeServerTest, WithoutAGaugeOfWhatIsOpenAHistogramIsJudgedOnlyWithALaterPage) {
  Rig rig(1, false);
  rig.engine().has_gauges = false;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const Judged later = Judge(rig.Run(), JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_EQ(later.part().verdict, Verdict::kPass) << later.part().reason;
  Rig short_rig(1, false);
  short_rig.engine().has_gauges = false;
  short_rig.each = [&](int second) { short_rig.Steady(second, 0, 0.3, 0); };
  const Judged at_once =
      Judge(short_rig.Run(kBlocks * 60), JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_EQ(at_once.part().verdict, Verdict::kNoData);
  EXPECT_THAT(at_once.part().reason, HasSubstr("nobody knows how many requests were open"));
}

TEST(JudgeServerTest, RefusalsInFrontAreInvisibleToTheEngineAndFailAtTheGateway) {
  Rig rig;
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    if (second % 2 == 0) ++rig.envoy->errors;
  };
  const ClientLoad load{
      .attempts = 750, .first_tokens = 600, .ok = 600, .refused = 150, .in_flight = 5};
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

TEST(JudgeServerTest, ACallWithoutAnErrorStatusInFrontOfAGatewayThatMissesCallsProvesNothing) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const Judged judged = Judge(rig.Run(), JudgeMode::kServer, {Client(Errors(0.02), Verdict::kFail)},
                              {.attempts = 900, .first_tokens = 600, .ok = 600, .in_flight = 5});
  EXPECT_EQ(judged.part().verdict, Verdict::kNoData);
  EXPECT_THAT(judged.part().reason, HasSubstr("turned away in front of it"));
}

TEST(JudgeServerTest, ALighterLoadHasNoLatencyWhateverTheServerShows) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const Judged judged =
      Judge(rig.Run(), JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kNoData)},
            {.attempts = 600, .first_tokens = 600, .ok = 600, .in_flight = 5, .sent_share = 0.5});
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
      step, client, {.attempts = 1200, .first_tokens = 1200, .ok = 1200, .in_flight = 5});
  EXPECT_EQ(judged.verdict.parts[0].verdict, Verdict::kPass) << judged.verdict.parts[0].reason;
  EXPECT_EQ(judged.verdict.parts[0].n, 1200u);
}

}  // namespace
}  // namespace plimsoll
