// Where steps meet: abandoned and repeated ones, calls in flight across them, late starts, and
// stops and pauses at awkward moments.
#include <set>

#include "tests/agent/replay/replay_rig.h"

namespace plimsoll {
namespace {

std::int64_t StateNs(const StepTally& tally, LaneState state) {
  std::int64_t sum = 0;
  for (const LaneTally& lane : tally.lanes) sum += lane.state_ns[static_cast<std::size_t>(state)];
  return sum;
}

Session OneCall() {
  Session s;
  s.id = "one";
  s.tier = Tier::kLight;
  s.streams = {{}};
  s.calls = {MakeCall(0, -1, 0, 200)};
  return s;
}

Session Chain() {
  Session s = OneCall();
  for (std::int32_t c = 1; c < 6; ++c) s.calls.push_back(MakeCall(0, c - 1, 3, 200));
  return s;
}

TEST(LaneEdges, ARetryThatWaitsWhileItsStepIsAbandonedIsSentInTheNextOne) {
  Rig rig(1);
  bool refuse = false;
  rig.transport.answer = [&](std::size_t) {
    return FixedTransport::Answer{.outcome = refuse ? Outcome::kRefused : Outcome::kOk,
                                  .retry_after = 20s};
  };
  rig.StartStep(0);
  rig.scheduler.RunUntil(rig.start + 30s);
  refuse = true;
  rig.scheduler.Advance(2s);  // A refusal came; the lane waits for 20 s.
  refuse = false;
  const std::size_t before = rig.sink.records.size();
  rig.StartStep(1);
  rig.RunToClose();
  EXPECT_EQ(rig.tally->step, 1u);
  const CallRecord& retry = rig.sink.records[before];
  EXPECT_EQ(retry.attempt, 2);
  EXPECT_EQ(retry.step, 1u) << "an attempt is booked in the step in which it was released";
  EXPECT_LT(retry.first_released, 0) << "before this step's start";
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(LaneEdges, ARepeatWhileCallsOfTheOldWindowAreInFlightConservesAndCloses) {
  for (const Outcome outcome : {Outcome::kOk, Outcome::kHttpError, Outcome::kContextOverflow}) {
    Rig rig(3);
    bool slow = false;
    rig.transport.answer = [&](std::size_t) {
      return slow ? FixedTransport::Answer{.outcome = outcome, .service = 25s}
                  : FixedTransport::Answer{};
    };
    rig.StartStep(0);
    rig.scheduler.RunUntil(rig.start + 35s);
    slow = true;
    rig.scheduler.Advance(5s);
    EXPECT_EQ(rig.replayer->calls_in_flight(), rig.transport.in_flight);
    EXPECT_GE(rig.transport.in_flight, 3u);
    slow = false;
    rig.StartStep(1);
    rig.RunToClose();
    EXPECT_EQ(rig.tally->step, 1u);
    EXPECT_LT(rig.scheduler.Now(), rig.start + 75s) << "drained at once";
    ExpectConserved(*rig.tally, Duration(60s).count());
    for (const LaneTally& lane : rig.tally->lanes) {
      EXPECT_GT(lane.plays.plays, 0u);
      for (const FailedPlays& failed : lane.failed_plays) {
        EXPECT_EQ(failed.block, 0u) << "its call belongs to no cell: where the silence begins";
        EXPECT_GT(failed.silent_ns, 0);
        EXPECT_LE(failed.silent_ns, Duration(20s).count());
      }
    }
  }
}

TEST(LaneEdges, APlayThatFailedBeforeTheStepBooksNothingInIt) {
  Rig rig(1);
  std::size_t armed = 0;  // From this call on: one fails at once, its siblings take long.
  rig.transport.answer = [&](std::size_t n) -> FixedTransport::Answer {
    if (armed == 0 || n < armed) return {};
    const std::uint32_t tokens = rig.transport.sent[n].prompt.tokens;
    if (tokens == 100) return {.outcome = Outcome::kContextOverflow, .service = 1s};
    return {.service = tokens == 90 ? Duration(70s) : Duration(1s)};
  };
  rig.StartStep(0);
  rig.scheduler.RunUntil(rig.start + 25s);
  armed = rig.transport.sent.size();
  rig.scheduler.Advance(12s);  // The play has failed in block 0 or 1; its async call goes on.
  ASSERT_EQ(rig.transport.in_flight, 1u);
  armed = 0;
  rig.StartStep(1);
  rig.RunToClose();
  // It holds its lane until the async call ends: that is in this step, and in its first blocks.
  ASSERT_EQ(rig.tally->lanes[0].failed_plays.size(), 1u);
  const FailedPlays& old = rig.tally->lanes[0].failed_plays[0];
  EXPECT_EQ(old.block, 0u);
  EXPECT_GT(old.silent_ns, 0);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(LaneEdges, AStartThatLiesInThePastIsCaughtUpAndSaid) {
  Rig rig(2);
  rig.StartStep(0, -3s);
  rig.RunToClose();
  EXPECT_EQ(rig.tally->start_error_ns, Duration(3s).count());
  for (const CallRecord& r : rig.sink.records) {
    if (r.play == 0) {
      EXPECT_GE(r.released, 0);
    }
  }
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(LaneEdges, LanesOfOneCallSessionsGoOnAndOn) {
  Rig rig(2, ThinkTime::kNone, {OneCall()});
  rig.StartStep();
  EXPECT_EQ(rig.primed.wanted, 0u) << "no call precedes the only one";
  rig.RunToClose();
  EXPECT_EQ(rig.tally->attempts_released, 2u * 60);
  EXPECT_EQ(StateNs(*rig.tally, LaneState::kInFlight), 2 * Duration(60s).count());
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(LaneEdges, ALaneWithoutASessionIsIdleForOurReason) {
  Rig rig(2);
  rig.specs[1].tier = 0;
  rig.plan.tiers[0].tier = Tier::kHeavy;  // The corpus has none.
  rig.index =
      std::make_unique<CorpusIndex>(std::make_shared<Corpus>(rig.index->corpus()), rig.plan);
  rig.replayer = std::make_unique<Replayer>(rig.scheduler, rig.transport, rig.sink, rig.load,
                                            rig.plan, *rig.index);
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 20s);
  rig.replayer->Pause();
  rig.scheduler.Advance(5s);
  rig.replayer->Resume();
  rig.RunToClose();
  EXPECT_TRUE(rig.transport.sent.empty());
  EXPECT_EQ(StateNs(*rig.tally, LaneState::kNoSession) + StateNs(*rig.tally, LaneState::kDeadMan),
            2 * Duration(60s).count());
}

TEST(LaneEdges, ASuccessorOfALostAgentCountsItsPlaysOnFromItsFirst) {
  Rig rig(2);
  for (LaneSpec& lane : rig.specs) lane.first_play = 1u << 20;
  rig.StartStep();
  rig.RunToClose();
  std::set<std::uint32_t> plays;
  for (const CallRecord& r : rig.sink.records) plays.insert(r.play);
  EXPECT_EQ(*plays.begin(), 1u << 20);
  EXPECT_GT(plays.size(), 5u);
}

TEST(LaneEdges, AResumeInTheTurnOfADueReleaseSendsItOnce) {
  Rig rig(1, ThinkTime::kRecorded, {Chain()});
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 20s);
  // Find a pause of the lane: nothing in flight, the next release 500 ms after the last end.
  while (rig.transport.in_flight > 0) ASSERT_TRUE(rig.scheduler.RunOne());
  const std::size_t sent = rig.transport.sent.size();
  const MonoTime due = rig.scheduler.Now() + 500ms;
  rig.replayer->Pause();
  // Armed later than the release's timer, but the other way round on a loop that was frozen.
  rig.scheduler.RunUntil(due - 1ns);
  bool resumed = false;
  const Timer late = rig.scheduler.At(due - 1ns, [&] {
    resumed = true;
    rig.replayer->Resume();
  });
  rig.scheduler.RunUntil(due);
  EXPECT_TRUE(resumed);
  EXPECT_EQ(rig.transport.sent.size(), sent + 1);
  EXPECT_EQ(rig.transport.in_flight, 1u);
  rig.RunToClose();
  EXPECT_LT(rig.scheduler.Now(), rig.start + 80s);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

// A scheduler whose loop stood still: its clock is ahead of the timers that it has yet to run.
class FrozenScheduler final : public Scheduler {
 public:
  explicit FrozenScheduler(SimScheduler& base) : base_(base) {}
  MonoTime Now() const override { return std::max(now_, base_.Now()); }
  void JumpTo(MonoTime t) { now_ = t; }
  Timer At(MonoTime due, Task task) override { return base_.At(due, std::move(task)); }
  void Post(Task task) override { base_.Post(std::move(task)); }

 private:
  void CancelTimer(std::uint64_t) override {}
  SimScheduler& base_;
  MonoTime now_{};
};

TEST(LaneEdges, AfterAFreezeAResumeBeforeTheOverdueTimersSendsEachCallOnce) {
  Rig rig(1, ThinkTime::kRecorded, {Chain()});
  FrozenScheduler frozen(rig.scheduler);
  rig.replayer =
      std::make_unique<Replayer>(frozen, rig.transport, rig.sink, rig.load, rig.plan, *rig.index);
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 20s);
  while (rig.transport.in_flight > 0) ASSERT_TRUE(rig.scheduler.RunOne());
  const std::size_t sent = rig.transport.sent.size();
  frozen.JumpTo(rig.scheduler.Now() + 5s);  // The release's timer is overdue, and has not run.
  rig.replayer->Pause();
  rig.replayer->Resume();
  EXPECT_EQ(rig.transport.sent.size(), sent + 1);
  rig.scheduler.Advance(600ms);
  EXPECT_EQ(rig.transport.sent.size(), sent + 1) << "the overdue timer fired the call again";
  EXPECT_EQ(rig.replayer->calls_in_flight(), 1u);
}

TEST(LaneEdges, APauseWhileTheLaneBacksOffHoldsTheRetryPastTheBackOff) {
  Rig rig(1);
  bool refuse = false;
  rig.transport.answer = [&](std::size_t) {
    return FixedTransport::Answer{
        .outcome = refuse ? Outcome::kRefused : Outcome::kOk, .service = 100ms, .retry_after = 5s};
  };
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 20s);
  refuse = true;
  rig.scheduler.Advance(200ms);
  refuse = false;
  const std::size_t sent = rig.transport.sent.size();
  rig.replayer->Pause();
  rig.scheduler.Advance(8s);
  EXPECT_EQ(rig.transport.sent.size(), sent);
  const MonoTime resumed = rig.scheduler.Now();
  rig.replayer->Resume();
  ASSERT_GT(rig.transport.sent.size(), sent);
  EXPECT_EQ(rig.transport.sent[sent].released, resumed) << "not late: it was held";
  rig.RunToClose();
  EXPECT_EQ(StateNs(*rig.tally, LaneState::kLate), 0);
  EXPECT_GE(StateNs(*rig.tally, LaneState::kDeadMan), Duration(7s).count());
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(LaneEdges, AStepThatClosesDuringTheDrainDoesNotLiftTheDrainLimit) {
  Rig rig(2);
  rig.transport.answer = [&](std::size_t n) {
    // Of the cool-down: far longer than any limit.
    const bool cool = rig.scheduler.Now() >= rig.start + 70s;
    const Duration measured = n % 2 == 0 ? Duration(4s) : Duration(7300ms);
    return FixedTransport::Answer{.service = cool ? Duration(1h) : measured};
  };
  rig.StartStep();
  // Until one was sent in the cool-down, while another of the measured time is still in flight.
  while (rig.transport.sent.back().at < rig.start + 70s) ASSERT_TRUE(rig.scheduler.RunOne());
  ASSERT_FALSE(rig.tally.has_value());
  bool stopped = false;
  rig.replayer->Stop(20s, [&] { stopped = true; });
  rig.scheduler.Advance(19s);
  EXPECT_TRUE(rig.tally.has_value()) << "the step's last measured call has ended";
  ASSERT_GT(rig.transport.in_flight, 0u);
  rig.scheduler.Advance(2s);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(rig.transport.in_flight, 0u);
}

TEST(LaneEdges, ASecondStopMayOnlyShortenAndIsAnsweredEvenAfterTheFirst) {
  Rig rig(1);
  rig.transport.answer = [](std::size_t) { return FixedTransport::Answer{.service = 1h}; };
  StepPlan plan = rig.Plan(0);
  plan.prime_limit = 1s;
  EXPECT_TRUE(rig.replayer->PrepareStep(plan, rig.specs, [](const Primer::Result&) {}).ok());
  rig.scheduler.Advance(2s);
  EXPECT_TRUE(rig.replayer->CommitStep(0, rig.scheduler.Now(), [](const StepTally&) {}).ok());
  rig.scheduler.Advance(20s);
  ASSERT_GT(rig.transport.in_flight, 0u);
  int first = 0;
  int second = 0;
  int third = 0;
  rig.replayer->Stop(10s, [&] { ++first; });
  rig.replayer->Stop(1h, [&] { ++second; });
  rig.scheduler.Advance(11s);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(rig.transport.in_flight, 0u);
  rig.replayer->Stop(0s, [&] { ++third; });
  rig.scheduler.Advance(1s);
  EXPECT_EQ(third, 1);
  EXPECT_EQ(first + second, 1);
}

TEST(LaneEdges, NothingStartsAfterAStop) {
  Rig rig(2);
  bool ready = false;
  EXPECT_TRUE(
      rig.replayer
          ->PrepareStep(rig.Plan(0), rig.specs, [&](const Primer::Result&) { ready = true; })
          .ok());
  while (!ready) ASSERT_TRUE(rig.scheduler.RunOne());
  rig.replayer->Stop(1s, [] {});
  const std::size_t sent = rig.transport.sent.size();
  EXPECT_FALSE(rig.replayer->CommitStep(0, rig.scheduler.Now() + 1s, [](const StepTally&) {}).ok());
  EXPECT_FALSE(rig.replayer->PrepareStep(rig.Plan(1), rig.specs, [](const auto&) {}).ok());
  rig.scheduler.Advance(1min);
  EXPECT_EQ(rig.transport.sent.size(), sent);
}

TEST(LaneEdges, ACommitWithoutItsPrepareIsRefused) {
  Rig rig(1);
  EXPECT_FALSE(rig.replayer->CommitStep(0, MonoTime{}, [](const StepTally&) {}).ok());
  rig.StartStep(4);
  const Status again = rig.replayer->CommitStep(4, rig.start, [](const StepTally&) {});
  EXPECT_NE(MessageOf(again).find("step 4 was not prepared"), std::string_view::npos);
}

}  // namespace
}  // namespace plimsoll
