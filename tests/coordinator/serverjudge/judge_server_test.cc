// A step judged from pages of servers that count what the test tells them: latencies, merging, and
// what is missing; each rule of section 3 of the design.
#include "coordinator/serverjudge/judge_server.h"

#include <string>
#include <vector>

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
              Contains(::testing::Field(&NotGotSignal::target, "engine-1")));
  for (const NotGotSignal& missing : both.judgement.summary.not_got) {
    if (missing.target == "engine-1") {
      EXPECT_EQ(missing.missing, Missing::kNoPage);
    }
  }
}

TEST(JudgeServerTest, ATargetThatIsLeftAloneIsMissingForTheReasonOfItsLastFailure) {
  Rig rig;
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    if (second == 241) rig.engine().down = true;
  };
  SignalHistory history = rig.Run();
  // It failed once, 50 s before the measured time's end, and was not asked again.
  std::vector<TargetSample>& samples = history.targets[0].samples;
  const auto failed = std::find_if(samples.begin(), samples.end(),
                                   [](const TargetSample& sample) { return !sample.readable(); });
  ASSERT_NE(failed, samples.end());
  ASSERT_EQ(failed->at, kFrom + 250s);
  samples.erase(failed + 1, samples.end());
  const Judged judged = Judge(history, JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_THAT(judged.part().reason, HasSubstr("(connection refused)"));
  // Where nothing failed nobody knows more than that none came.
  samples.pop_back();
  const Judged silent = Judge(history, JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)});
  EXPECT_THAT(silent.part().reason, HasSubstr("none came within 30s of the measured time's end"));
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
  const Judged half =
      Judge(history, JudgeMode::kServer, {Client(Ttft(5.3), Verdict::kPass)},
            {.sessions = 60, .attempts = 1200, .first_tokens = 1200, .ok = 1200, .in_flight = 10});
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
  ClientLoad load{.sessions = 60, .attempts = 600, .first_tokens = 600, .ok = 600, .in_flight = 40};
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

}  // namespace
}  // namespace plimsoll
