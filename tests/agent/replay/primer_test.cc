// Priming, in virtual time: what is sent, how many at once, the limit, and what ends it.
#include "agent/replay/primer.h"

#include <map>

#include "tests/agent/replay/replay_rig.h"

namespace plimsoll {
namespace {

// Prepares the step only; `ready` says when and with what.
struct Priming {
  explicit Priming(Rig& rig, Duration limit = 20s) {
    StepPlan plan = rig.Plan(0);
    plan.prime_limit = limit;
    EXPECT_TRUE(rig.replayer
                    ->PrepareStep(plan, rig.specs,
                                  [this, &rig](const Primer::Result& r) {
                                    ++times;
                                    result = r;
                                    at = rig.scheduler.Now();
                                  })
                    .ok());
  }
  int times = 0;
  Primer::Result result;
  MonoTime at{};
};

TEST(Primer, SendsTheHistoryOfEachLaneThatStartsInsideWithOneTokenAndNoRecord) {
  Rig rig(12);
  const Priming priming(rig);
  std::map<std::uint64_t, std::size_t> expected;  // By tokens of the prompt.
  for (const LaneSpec& lane : rig.specs) {
    const double share = StartShare(rig.plan.seed, lane.lane, 0);
    for (const std::uint32_t call : Play::Primers(*rig.index, 0, share)) {
      ++expected[rig.index->session(0).calls[call].tokens_in];
    }
  }
  EXPECT_EQ(priming.times, 0) << "never from inside PrepareStep";
  rig.scheduler.RunUntilIdle();
  std::map<std::uint64_t, std::size_t> sent;
  for (const auto& s : rig.transport.sent) {
    ++sent[s.prompt.tokens];
    EXPECT_EQ(s.max_tokens, 1u);
  }
  EXPECT_EQ(sent, expected);
  EXPECT_EQ(priming.times, 1);
  EXPECT_EQ(priming.result.wanted, rig.transport.sent.size());
  EXPECT_EQ(priming.result.failed, 0u);
  EXPECT_EQ(rig.transport.in_flight_max, Primer::kAtOnce);
  EXPECT_TRUE(rig.sink.records.empty());
}

TEST(Primer, TheLimitHangsUpAndCountsWhatIsLeftAsFailed) {
  Rig rig(12);
  rig.transport.answer = [](std::size_t n) {
    return FixedTransport::Answer{.service = n < 2 ? Duration(1s) : Duration(1h)};
  };
  const Priming priming(rig, 5s);
  std::size_t jobs = 0;
  for (const LaneSpec& lane : rig.specs) {
    jobs += Play::Primers(*rig.index, 0, StartShare(rig.plan.seed, lane.lane, 0)).size();
  }
  rig.scheduler.RunUntilIdle();
  EXPECT_EQ(priming.times, 1);
  EXPECT_EQ(priming.at, MonoTime{} + 5s);
  EXPECT_EQ(priming.result.wanted, jobs);
  EXPECT_EQ(priming.result.failed, jobs - 2);
  EXPECT_EQ(rig.transport.hung_up, Primer::kAtOnce);
}

TEST(Primer, CountsRefusalsAndGoesOn) {
  Rig rig(8);
  rig.transport.answer = [](std::size_t n) {
    return FixedTransport::Answer{.outcome = n % 2 == 0 ? Outcome::kRefused : Outcome::kOk};
  };
  const Priming priming(rig);
  rig.scheduler.RunUntilIdle();
  EXPECT_EQ(priming.result.failed, (priming.result.wanted + 1) / 2);
  EXPECT_GT(priming.result.wanted, 4u);
}

TEST(Primer, AStopHangsUpOnItAndNobodyHearsOfIt) {
  Rig rig(12);
  const Priming priming(rig);
  bool stopped = false;
  rig.replayer->Stop(30s, [&] { stopped = true; });
  EXPECT_EQ(rig.transport.hung_up, Primer::kAtOnce);
  rig.scheduler.RunUntilIdle();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(priming.times, 0);
  EXPECT_EQ(rig.transport.sent.size(), Primer::kAtOnce);
}

TEST(Primer, ADeadManPauseHoldsIt) {
  Rig rig(12);
  const Priming priming(rig);
  rig.replayer->Pause();
  rig.scheduler.Advance(4s);
  EXPECT_EQ(rig.transport.sent.size(), Primer::kAtOnce);
  rig.replayer->Resume();
  rig.scheduler.RunUntilIdle();
  EXPECT_EQ(priming.times, 1);
  EXPECT_GT(priming.result.wanted, Primer::kAtOnce);
  EXPECT_EQ(priming.result.failed, 0u);
}

TEST(Primer, WithNothingToPrimeTheStepIsReadyInTheNextTurn) {
  Rig rig(0);
  const Priming priming(rig);
  EXPECT_EQ(priming.times, 0);
  rig.scheduler.Advance(0s);
  EXPECT_EQ(priming.times, 1);
}

}  // namespace
}  // namespace plimsoll
