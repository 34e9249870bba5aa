// Lanes against a transport that does as it is told, in virtual time: order of a session tree, the
// failure policy, the accounting of lane-time and the stop protocol.
#include "agent/replay/replayer.h"

#include <map>
#include <set>

#include "tests/agent/replay/replay_rig.h"

namespace plimsoll {
namespace {

TEST(Replayer, PlaysATreeInOrderAndJoinsItsSubagents) {
  Rig rig(1);
  rig.StartStep();
  rig.RunToClose();
  // The second play runs from the beginning: look at it whole.
  std::map<std::uint32_t, CallRecord> by_call;
  for (const CallRecord& r : rig.sink.records) {
    if (r.play == 1) by_call[r.call] = r;
  }
  ASSERT_EQ(by_call.size(), 7u);
  for (const std::uint32_t child : {1u, 2u, 4u}) {
    EXPECT_EQ(by_call[child].released, by_call[0].end) << "fan-out " << child;
  }
  EXPECT_EQ(by_call[3].released, by_call[2].end);
  EXPECT_EQ(by_call[5].released, std::max(by_call[1].end, by_call[3].end)) << "the join";
  EXPECT_EQ(by_call[6].released, by_call[5].end);
  ExpectConserved(*rig.tally, Duration(60s).count());
  EXPECT_EQ(rig.tally->outcomes[static_cast<std::size_t>(Outcome::kOk)],
            rig.tally->attempts_released);
}

TEST(Replayer, AsyncStreamsHoldTheLaneButGateNothing) {
  Rig rig(1);
  // Call 4 (the async stream) of each play takes 20 s; the main stream does not wait for it.
  rig.transport.answer = [&](std::size_t n) {
    const bool async = rig.transport.sent[n].prompt.tokens == 90;
    return FixedTransport::Answer{.service = async ? Duration(20s) : Duration(1s)};
  };
  rig.StartStep();
  rig.RunToClose();
  std::map<std::uint32_t, CallRecord> play1;
  StepNanos play2_start = -1;
  for (const CallRecord& r : rig.sink.records) {
    if (r.play == 1) play1[r.call] = r;
    if (r.play == 2 && r.call == 0) play2_start = r.released;
  }
  ASSERT_TRUE(play1.contains(4) && play1.contains(6));
  EXPECT_LT(play1[6].end, play1[4].end);
  EXPECT_EQ(play2_start, play1[4].end);
}

TEST(Replayer, StartsTheFirstPopulationInsideItsSessions) {
  Rig rig(20);
  rig.StartStep();
  EXPECT_GT(rig.primed.wanted, 0u);
  EXPECT_EQ(rig.primed.failed, 0u);
  EXPECT_LE(rig.transport.in_flight_max, Primer::kAtOnce);
  for (const auto& sent : rig.transport.sent) EXPECT_EQ(sent.max_tokens, 1u);
  rig.RunToClose();
  std::set<std::uint32_t> skipped;
  for (const LaneTally& lane : rig.tally->lanes) {
    // First plays ended long before the measured time (10 s of warm-up, about 6 s a session).
    EXPECT_GT(lane.plays.plays, 1u);
  }
  // Every lane's first call of play 0 lies 25-75% into the timeline, so none is call 0.
  for (const CallRecord& r : rig.sink.records) {
    if (r.play == 0) {
      EXPECT_NE(r.call, 0u);
    }
    if (r.play == 0) skipped.insert(r.call);
  }
  EXPECT_GT(skipped.size(), 1u);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(Replayer, AfterARefusalNoLaneSendsWithinRetryAfterOrASecond) {
  for (const Duration retry_after : {Duration(-1), Duration(0), Duration(300ms), Duration(7s)}) {
    Rig rig(3);
    std::vector<std::pair<MonoTime, std::uint64_t>> refused;  // When, whose play.
    rig.transport.answer = [&](std::size_t n) {
      if (n % 4 != 0 || n < rig.primers_wanted) return FixedTransport::Answer{};
      return FixedTransport::Answer{
          .outcome = Outcome::kRefused, .service = 5ms, .retry_after = retry_after};
    };
    rig.StartStep();
    rig.RunToClose();
    const Duration silence = std::max<Duration>(retry_after, 1s);
    std::map<std::uint32_t, std::vector<CallRecord>> by_lane;
    for (const CallRecord& r : rig.sink.records) by_lane[r.lane].push_back(r);
    std::size_t checked = 0;
    for (const auto& [lane, records] : by_lane) {
      for (const CallRecord& refusal : records) {
        if (refusal.outcome != Outcome::kRefused) continue;
        for (const CallRecord& r : records) {
          ++checked;
          EXPECT_FALSE(r.sent > refusal.end && r.sent < refusal.end + silence.count())
              << "lane " << lane << " sent " << (r.sent - refusal.end) << " ns after a refusal";
        }
      }
    }
    EXPECT_GT(checked, 10u);
    ExpectConserved(*rig.tally, Duration(60s).count());
  }
}

TEST(Replayer, ThirdFailureEndsThePlayAndItsRecordIsTheLast) {
  Rig rig(1);
  rig.transport.answer = [&](std::size_t n) {
    const bool failing = rig.primers_wanted > 0 && n >= rig.primers_wanted + 3;
    return FixedTransport::Answer{.outcome = failing ? Outcome::kHttpError : Outcome::kOk};
  };
  rig.StartStep();
  rig.RunToClose();
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> attempts;
  for (const CallRecord& r : rig.sink.records) {
    if (r.outcome != Outcome::kHttpError) continue;
    const int n = ++attempts[{r.play, r.call}];
    EXPECT_EQ(r.attempt, n);
    EXPECT_LE(n, 3);
    if (n < 3) {
      EXPECT_EQ(r.flags & kLastAttempt, 0);
    }
    if (n == 3) {
      EXPECT_NE(r.flags & kLastAttempt, 0);
    }
    EXPECT_LE(r.first_released, r.released);
  }
  ASSERT_FALSE(rig.tally->lanes[0].failed_plays.empty());
  // Silent from the first of the three failures on: both back-offs, and that before the next play.
  for (const FailedPlays& failed : rig.tally->lanes[0].failed_plays) {
    std::map<std::uint32_t, StepNanos> first;
    for (const CallRecord& r : rig.sink.records) {
      if (r.outcome == Outcome::kHttpError && r.attempt == 1) first[r.play] = r.end;
    }
    StepNanos expected = 0;
    for (const auto& [play, end] : first) {
      const StepNanos from = std::max(end, Duration(10s).count());
      StepNanos next = Duration(70s).count();
      for (const CallRecord& r : rig.sink.records) {
        if (r.play == play + 1) next = std::min(next, r.released);
      }
      if (next - from == failed.silent_ns) expected = next - from;
    }
    EXPECT_EQ(failed.silent_ns, expected) << "no play's silence is so long";
  }
  EXPECT_GT(rig.tally->lanes[0].state_ns[static_cast<std::size_t>(LaneState::kRefused)], 0);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(Replayer, ContextOverflowEndsThePlayAtOnce) {
  Rig rig(1);
  rig.transport.answer = [&](std::size_t n) {
    const bool long_prompt = rig.transport.sent[n].prompt.tokens == 400;
    return FixedTransport::Answer{.outcome =
                                      long_prompt ? Outcome::kContextOverflow : Outcome::kOk};
  };
  rig.StartStep();
  rig.RunToClose();
  for (const CallRecord& r : rig.sink.records) {
    if (r.outcome == Outcome::kContextOverflow) {
      EXPECT_NE(r.flags & kLastAttempt, 0);
    }
    EXPECT_EQ(r.attempt, 1);
  }
}

TEST(Replayer, CutsWhatTheDrainLimitLeaves) {
  Rig rig(2);
  rig.transport.answer = [&](std::size_t n) {
    return FixedTransport::Answer{.service = n >= rig.primers_wanted + 60 ? Duration(10min) : 1s};
  };
  rig.StartStep();
  rig.RunToClose();
  EXPECT_EQ(rig.scheduler.Now(), rig.start + 10s + 60s + 30s);
  EXPECT_GT(rig.tally->outcomes[static_cast<std::size_t>(Outcome::kCut)], 0u);
  EXPECT_GT(rig.transport.hung_up, 0u);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(Replayer, TheLoadGoesOnBetweenStepsAndTheNextStepAddsLanes) {
  Rig rig(2);
  rig.StartStep(0);
  rig.RunToClose();
  const std::size_t before = rig.transport.sent.size();
  rig.scheduler.Advance(5s);
  EXPECT_GT(rig.transport.sent.size(), before) << "lanes keep going between steps";
  const std::vector<std::uint32_t> slots = {0};
  rig.specs = AssignLanes(rig.plan.tiers, 5, slots);
  rig.StartStep(1);
  rig.RunToClose();
  EXPECT_EQ(rig.tally->lanes.size(), 5u);
  ExpectConserved(*rig.tally, Duration(60s).count());
  std::set<std::uint32_t> lanes;
  for (const CallRecord& r : rig.sink.records) {
    if (r.step == 1) lanes.insert(r.lane);
  }
  EXPECT_EQ(lanes.size(), 5u);
}

TEST(Replayer, DrainsOnStopAndAbortsOnTheSecond) {
  Rig rig(3);
  rig.transport.answer = [](std::size_t) { return FixedTransport::Answer{.service = 10s}; };
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 25s);
  const std::size_t sent = rig.transport.sent.size();
  bool stopped = false;
  rig.replayer->Stop(1min, [&] { stopped = true; });
  rig.scheduler.Advance(2s);
  EXPECT_FALSE(stopped);
  rig.replayer->Stop(0s, [&] { stopped = true; });
  rig.scheduler.Advance(10ms);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(rig.transport.sent.size(), sent) << "nothing is released after the stop";
  EXPECT_EQ(rig.replayer->calls_in_flight(), 0u);
  // Every call that was sent has its record.
  EXPECT_EQ(rig.sink.records.size(), sent - rig.primers_wanted);
}

TEST(Replayer, ADeadManPauseHoldsReleasesAndIsOurs) {
  Rig rig(2);
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 20s);
  rig.replayer->Pause();
  rig.scheduler.Advance(2s);
  const std::size_t sent = rig.transport.sent.size();
  rig.scheduler.Advance(10s);
  EXPECT_EQ(rig.transport.sent.size(), sent);
  rig.replayer->Resume();
  rig.scheduler.Advance(3s);
  EXPECT_GT(rig.transport.sent.size(), sent);
  rig.RunToClose();
  const auto dead_man = rig.tally->lanes[0].state_ns[static_cast<std::size_t>(LaneState::kDeadMan)];
  EXPECT_GT(dead_man, Duration(9s).count());
  ExpectConserved(*rig.tally, Duration(60s).count());
}

// Recorded answers of no token are sent with a cap of one: a cap of none is an error to a server.
TEST(Replayer, ACallThatWasAnsweredWithNothingAsksForOneToken) {
  Session session = Tree();
  for (Call& call : session.calls) call.tokens_out = 0;
  Rig rig(2, ThinkTime::kNone, {session});
  rig.StartStep();
  rig.RunToClose();
  ASSERT_GT(rig.transport.sent.size(), 20u);
  for (const FixedTransport::Sent& sent : rig.transport.sent) EXPECT_EQ(sent.max_tokens, 1u);
  ASSERT_FALSE(rig.sink.records.empty());
  for (const CallRecord& r : rig.sink.records) EXPECT_EQ(r.tokens_asked, 1u);
}

TEST(Replayer, RecordedThinkTimeIsAPlannedDelay) {
  Rig rig(1, ThinkTime::kRecorded);
  rig.StartStep();
  rig.RunToClose();
  const auto& states = rig.tally->lanes[0].state_ns;
  EXPECT_GT(states[static_cast<std::size_t>(LaneState::kPlannedDelay)], Duration(5s).count());
  EXPECT_EQ(states[static_cast<std::size_t>(LaneState::kLate)], 0);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

}  // namespace
}  // namespace plimsoll
