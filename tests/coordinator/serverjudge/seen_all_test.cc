// Whether a server's counts are of all that was sent: pages that stand still, copies that nobody
// scrapes, and how few calls that can be told of.
#include <vector>

#include "coordinator/serverjudge/judge_server.h"
#include "coordinator/serverjudge/observed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/serverjudge/served_rig.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Client;
using ::plimsoll::testing::Errors;
using ::plimsoll::testing::Judge;
using ::plimsoll::testing::Judged;
using ::plimsoll::testing::kBlocks;
using ::plimsoll::testing::kTo;
using ::plimsoll::testing::Rig;
using ::plimsoll::testing::Speed;
using ::plimsoll::testing::Ttft;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

TEST(SeenAll, APageThatStandsStillMidwayIsNoDataOfEachLimitOnLatency) {
  // A quarter of the calls lie behind it: neither first tokens nor answers are all.
  Rig rig(2);
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    rig.engine(0).running = rig.engine(1).running = 3;
    if (second == 150) rig.engine(1).frozen = true;
  };
  const Judged judged =
      Judge(rig.Run(), JudgeMode::kServer,
            {Client(Ttft(5.3), Verdict::kPass), Client(Speed(10), Verdict::kPass)});
  for (const std::size_t part : {0u, 1u}) {
    EXPECT_EQ(judged.part(part).verdict, Verdict::kNoData) << judged.part(part).reason;
    EXPECT_THAT(judged.part(part).reason, HasSubstr("or a page stands still"));
  }
  EXPECT_THAT(judged.part(1).reason, HasSubstr("finished requests, and 600 calls ended well"));
  // It is among what was wanted and not got.
  for (const Signal signal : {Signal::kTtft, Signal::kTimePerToken}) {
    EXPECT_THAT(judged.judgement.summary.not_got,
                Contains(AllOf(Field(&NotGotSignal::signal, signal),
                               Field(&NotGotSignal::target, "one of 2"),
                               Field(&NotGotSignal::missing, Missing::kNotAll),
                               Field(&NotGotSignal::why, HasSubstr("a page stands still")))));
  }
}

TEST(SeenAll, GapsAreJudgedOnlyWhereTheirRequestsAre) {
  for (const bool first_tokens : {true, false}) {
    for (const bool frozen : {false, true}) {
      Rig rig(2);
      rig.each = [&](int second) {
        for (int i = 0; i < 2; ++i) {
          rig.engine(i).has_per_token = false;
          rig.engine(i).has_gaps = true;
          rig.engine(i).has_ttft = first_tokens;
          rig.engine(i).running = 3;
        }
        rig.Steady(second, 0, 0.3, 0);
        if (frozen && second == 150) rig.engine(1).frozen = true;
      };
      const Judged judged =
          Judge(rig.Run(), JudgeMode::kServer, {Client(Speed(10), Verdict::kPass)});
      EXPECT_EQ(judged.part().verdict, frozen ? Verdict::kNoData : Verdict::kPass)
          << judged.part().reason;
      EXPECT_THAT(judged.part().reason,
                  HasSubstr(!frozen        ? "not requests"
                            : first_tokens ? "first tokens, and 600 calls got one"
                                           : "finished requests, and 600 calls ended well"));
    }
  }
}

TEST(SeenAll, OfShortStepsOnlyWhatIsOpenMayBeMissing) {
  // 200 calls, 15 in flight; of ten calls `unseen` go to a copy that nobody scrapes.
  const auto judge = [](int unseen, double open) {
    Rig rig;
    rig.each = [&rig, unseen, open](int second) {
      rig.envoy->open = open;
      if (second < 0 || second >= kBlocks * 60 || second % 3 != 0) return;
      for (int k = 0; k < 2; ++k) {
        ++rig.envoy->accepted;
        if ((second / 3 * 2 + k) % 10 >= unseen) rig.engine().Answer(0.3);
      }
    };
    return Judge(
        rig.Run(), JudgeMode::kServer,
        {Client(Ttft(5.3), Verdict::kPass), Client(Speed(10), Verdict::kPass)},
        {.sessions = 15, .attempts = 200, .first_tokens = 200, .ok = 200, .in_flight = 15});
  };
  for (const std::size_t part : {0u, 1u}) {
    const PartVerdict whole = judge(0, 15).part(part);
    EXPECT_NE(whole.verdict, Verdict::kNoData) << whole.reason;
    const PartVerdict fifth = judge(2, 15).part(part);
    EXPECT_EQ(fifth.verdict, Verdict::kNoData) << fifth.reason;
    const PartVerdict tenth = judge(1, 0).part(part);
    EXPECT_EQ(tenth.verdict, Verdict::kNoData) << tenth.reason;
  }
}

TEST(SeenAll, PagesThatDoNotReachTheEndsAreComparedWithWhatWasSentBetweenThem) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  SignalHistory history = rig.Run();
  // Of the engine no page came in the last 25 s of the measured time: 50 of 600 calls.
  std::erase_if(history.targets[0].samples,
                [](const TargetSample& sample) { return sample.at > kTo - 25s; });
  const Judged judged = Judge(history, JudgeMode::kServer, {Client(Speed(10), Verdict::kPass)});
  EXPECT_EQ(judged.part().verdict, Verdict::kPass) << judged.part().reason;
}

TEST(SeenAll, AnswersInOneChunkMayHaveNoTimePerTokenAndAreCountedAsFinished) {
  for (const bool finished : {true, false}) {
    Rig rig(1, false);
    rig.each = [&](int second) {
      rig.Steady(second, 0, 0.3, 0);
      if (second % 2 == 0 && finished) ++rig.engine().finished;
    };
    const Judged judged = Judge(rig.Run(), JudgeMode::kServer, {Client(Speed(10), Verdict::kPass)},
                                {.sessions = 60,
                                 .attempts = 750,
                                 .first_tokens = 750,
                                 .ok = 750,
                                 .one_chunk = 150,
                                 .in_flight = 5});
    EXPECT_EQ(judged.part().verdict, finished ? Verdict::kPass : Verdict::kNoData)
        << judged.part().reason;
  }
}

TEST(SeenAll, AnswersThatWaitAtTheEndAreNoMissingErrors) {
  // A queue grows: 60 of 660 have no status yet when the measured time ends.
  for (const double open : {60., 0.}) {
    Rig rig;
    rig.each = [&](int second) {
      rig.Steady(second, 0, 0.3, 0);
      rig.envoy->open = second >= kBlocks * 60 - 5 ? open : 0;
    };
    const Judged judged =
        Judge(rig.Run(), JudgeMode::kServer, {Client(Errors(0.02), Verdict::kPass)},
              {.sessions = 60, .attempts = 660, .first_tokens = 660, .ok = 660, .in_flight = 5});
    EXPECT_EQ(judged.part().verdict, open > 0 ? Verdict::kPass : Verdict::kNoData)
        << judged.part().reason;
  }
}

}  // namespace
}  // namespace plimsoll
