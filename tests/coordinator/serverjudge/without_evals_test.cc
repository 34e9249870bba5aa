// A server's counts with evals among them: what is said of the load alone.
#include "coordinator/serverjudge/without_evals.h"

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
using ::plimsoll::testing::Rig;
using ::plimsoll::testing::Ttft;
using ::testing::HasSubstr;

std::uint64_t Hits(const std::vector<BlockCount>& blocks) {
  std::uint64_t sum = 0;
  for (const BlockCount& block : blocks) sum += block.hits;
  return sum;
}
std::uint64_t All(const std::vector<BlockCount>& blocks) {
  std::uint64_t sum = 0;
  for (const BlockCount& block : blocks) sum += block.n;
  return sum;
}

TEST(WithoutEvals, AreTakenFromEachBlockInProportionAndNeverMoreThanThereAre) {
  std::vector<BlockCount> blocks = {{.n = 100, .hits = 90}, {.n = 200, .hits = 180}, {.n = 0}};
  TakeOut(27, 3, &blocks);
  EXPECT_EQ(Hits(blocks), 270u - 27u);
  EXPECT_EQ(All(blocks), 300u - 30u);
  EXPECT_EQ(blocks[0].hits, 81u);
  EXPECT_EQ(blocks[0].n, 90u);
  TakeOut(1'000'000, 5, &blocks);
  EXPECT_EQ(Hits(blocks), 0u);
  EXPECT_EQ(All(blocks), 22u);
  TakeOut(3, ~std::uint64_t{0}, &blocks);
  EXPECT_EQ(All(blocks), 0u);
  TakeOut(3, 3, &blocks);
  EXPECT_EQ(All(blocks), 0u);
  // What a page says may be absurd.
  std::vector<BlockCount> absurd = {{.n = 3, .hits = 9}, {.n = std::uint64_t{1} << 62, .hits = 1}};
  TakeOut(2, 1, &absurd);
  EXPECT_EQ(absurd[0].n, absurd[0].hits);
  EXPECT_LE(absurd[1].hits, absurd[1].n);
  std::vector<BlockCount> none;
  TakeOut(1, 1, &none);
  EXPECT_TRUE(none.empty());
}

TEST(EvalTraffic, CountsWhatAServerMayHaveCounted) {
  EvalTraffic traffic;
  traffic.Add(EvalRecord{.end = 2'000'000'000,
                         .http_status = 200,
                         .call = Outcome::kOk,
                         .outcome = EvalOutcome::kWrong});
  traffic.Add(
      EvalRecord{.http_status = 200, .call = Outcome::kEmpty, .outcome = EvalOutcome::kEmpty});
  traffic.Add(EvalRecord{.http_status = 429, .call = Outcome::kRefused});
  traffic.Add(EvalRecord{.http_status = 500, .call = Outcome::kHttpError});
  traffic.Add(EvalRecord{.call = Outcome::kConnectError});
  EXPECT_EQ(traffic.asked, 5u);
  EXPECT_EQ(traffic.ended_well, 2u);
  EXPECT_EQ(traffic.refused, 1u);
  EXPECT_EQ(traffic.with_status, 4u);
  EXPECT_EQ(traffic.with_error_status, 2u);
  EXPECT_EQ(traffic.perhaps_answered(), 3u);
  EXPECT_EQ(traffic.SurelyWithin(1.9), 0u);
  EXPECT_EQ(traffic.SurelyWithin(2), 1u);
  EvalTraffic twice = traffic;
  twice.Add(traffic);
  EXPECT_EQ(twice.asked, 10u);
  EXPECT_EQ(twice.SurelyWithin(3), 2u);
}

ClientLoad LoadWith(EvalTraffic evals) {
  return {.sessions = 60,
          .attempts = 600,
          .first_tokens = 600,
          .ok = 600,
          .in_flight = 5,
          .evals = std::move(evals)};
}

EvalTraffic Quick(std::uint64_t count, std::int64_t ns) {
  EvalTraffic evals;
  for (std::uint64_t i = 0; i < count; ++i) {
    evals.Add(EvalRecord{
        .end = ns, .http_status = 200, .call = Outcome::kOk, .outcome = EvalOutcome::kPass});
  }
  return evals;
}

TEST(JudgeWithEvals, QuickOnesHideNoSlowLoad) {
  Rig rig;
  rig.each = [&](int second) {
    rig.Steady(second, 4, 0.3, 8);
    for (int k = 0; k < 8; ++k) rig.Answer(0, 0.2);
  };
  const SignalHistory history = rig.Run();
  const std::vector<PartVerdict> parts = {Client(Ttft(5.3), Verdict::kFail)};
  // By all that the page counts 96% came in time.
  EXPECT_EQ(Judge(history, JudgeMode::kServer, parts, LoadWith({})).part().verdict, Verdict::kPass);
  const Judged told =
      Judge(history, JudgeMode::kServer, parts, LoadWith(Quick(2400, 1'000'000'000)));
  EXPECT_EQ(told.part().verdict, Verdict::kFail) << told.part().reason;
  EXPECT_THAT(told.part().reason, HasSubstr("up to 2400 of them are evals'"));
  EXPECT_NEAR(told.part().share_low, 0.8, 0.1);
  // What capacity is made of is the load's: 80% of its 600, not 96% of 3000.
  EXPECT_EQ(told.part().n, 600u);
  EXPECT_NEAR(told.part().share_within, 0.8, 0.01);
  EXPECT_GT(told.part().value, 5.) << "nor is the P90 that of the evals";
  // Ones that ended late may have begun late.
  const Judged open =
      Judge(history, JudgeMode::kServer, parts, LoadWith(Quick(2400, 30'000'000'000)));
  EXPECT_EQ(open.part().verdict, Verdict::kTooClose) << open.part().reason;
  EXPECT_THAT(open.part().reason, HasSubstr("which of the answers are those to evals"));
}

TEST(JudgeWithEvals, AHealthyLoadPassesAndTheCountsAreTheLoads) {
  Rig rig;
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    if (second % 5 == 0) rig.Answer(0, 0.2);
  };
  const Judged judged =
      Judge(rig.Run(), JudgeMode::kServer,
            {Client(Ttft(5.3), Verdict::kPass), Client(Errors(0.02), Verdict::kPass)},
            LoadWith(Quick(60, 1'000'000'000)));
  EXPECT_EQ(judged.part(0).verdict, Verdict::kPass) << judged.part(0).reason;
  EXPECT_EQ(judged.part(1).verdict, Verdict::kPass) << judged.part(1).reason;
  EXPECT_EQ(judged.part(0).n, 600u) << "and 60 are the evals'";
  EXPECT_EQ(judged.part(1).n, 600u);
  EXPECT_THAT(judged.part(1).reason, HasSubstr("60 evals are left out"));
  EXPECT_EQ(judged.judgement.counts.requests, 600u);
  EXPECT_FALSE(judged.judgement.counts.tokens_out.has_value()) << "the evals' are not known";
}

TEST(JudgeWithEvals, AServerMustHaveSeenThemToo) {
  Rig rig;
  rig.each = [&](int second) { rig.Steady(second, 0, 0.3, 0); };
  const SignalHistory history = rig.Run();
  const std::vector<PartVerdict> parts = {Client(Ttft(5.3), Verdict::kPass)};
  EXPECT_EQ(Judge(history, JudgeMode::kServer, parts, LoadWith({})).part().verdict, Verdict::kPass);
  const Judged blind =
      Judge(history, JudgeMode::kServer, parts, LoadWith(Quick(100, 1'000'000'000)));
  EXPECT_EQ(blind.part().verdict, Verdict::kNoData);
  EXPECT_THAT(blind.part().reason, HasSubstr("600 first tokens, and 700 calls got one"));
}

TEST(JudgeWithEvals, TheirRefusalsAreNoErrorsOfTheLoadAndTheirAnswersDiluteNone) {
  Rig rig;
  rig.each = [&](int second) {
    rig.Steady(second, 0, 0.3, 0);
    for (int k = 0; k < 8; ++k) rig.Answer(0, 0.2);
    if (second % 5 == 0) ++rig.envoy->errors;
  };
  const SignalHistory history = rig.Run();
  ClientLoad load = LoadWith(Quick(2400, 1'000'000'000));
  load.attempts = 660;
  const std::vector<PartVerdict> parts = {Client(Errors(0.05), Verdict::kFail)};
  const Judged diluted = Judge(history, JudgeMode::kServer, parts, load);
  EXPECT_EQ(diluted.part().n, 660u);
  EXPECT_NEAR(*diluted.part().value, 60. / 660, 1e-9) << diluted.part().reason;
  EXPECT_EQ(diluted.part().verdict, Verdict::kFail) << diluted.part().reason;
  // The same errors, all of them of evals.
  for (int i = 0; i < 60; ++i) {
    load.evals.Add(EvalRecord{.http_status = 503, .call = Outcome::kRefused});
  }
  load.attempts = 600;
  const Judged theirs = Judge(history, JudgeMode::kServer, parts, load);
  EXPECT_EQ(theirs.part().n, 600u);
  EXPECT_EQ(theirs.part().value, 0);
  EXPECT_NE(theirs.part().verdict, Verdict::kFail) << theirs.part().reason;
  EXPECT_NE(theirs.part().verdict, Verdict::kPass)
      << "who counted them is not known: " << theirs.part().reason;
}

}  // namespace
}  // namespace plimsoll
