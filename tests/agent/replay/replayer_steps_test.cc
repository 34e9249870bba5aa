// From step to step: extensions, lanes that end, steps that are decided before their time.
#include <set>

#include "tests/agent/replay/replay_rig.h"

namespace plimsoll {
namespace {

TEST(ReplayerSteps, AnExtensionGoesOnWithTheSameLanesAndWithoutAWarmUp) {
  Rig rig(3);
  rig.StartStep();
  rig.RunToClose();
  const std::size_t sent = rig.transport.sent.size();
  StepPlan more = rig.Plan(1);
  more.warm_up = more.prime_limit = Duration{0};
  rig.StartPlan(more);
  EXPECT_EQ(rig.primed.wanted, 0u);
  EXPECT_EQ(rig.replayer->retired().lanes, 0u);
  // The lanes did not pause before it, and what they released meanwhile is no part of it.
  rig.scheduler.RunUntil(rig.start);
  EXPECT_GT(rig.transport.sent.size(), sent);
  rig.RunToClose();
  EXPECT_EQ(rig.tally->step, 1u);
  ExpectConserved(*rig.tally, Duration(60s).count());
  EXPECT_EQ(rig.tally->lanes.size(), 3u);
  for (const LaneTally& lane : rig.tally->lanes) {
    EXPECT_EQ(lane.state_ns[static_cast<std::size_t>(LaneState::kInFlight)], Duration(60s).count());
  }
}

TEST(ReplayerSteps, SurplusLanesFinishTheirCallsWhileTheOthersGoOn) {
  Rig rig(5);
  rig.transport.answer = [](std::size_t) { return FixedTransport::Answer{.service = 3s}; };
  rig.StartStep();
  rig.RunToClose();
  rig.specs.resize(2);
  const MonoTime asked = rig.scheduler.Now();
  rig.StartPlan(rig.Plan(1));
  EXPECT_EQ(rig.replayer->retired().lanes, 3u);
  EXPECT_EQ(rig.replayer->retired().calls_cut, 0u);
  EXPECT_EQ(rig.replayer->lanes(), 2u);
  EXPECT_GT(rig.start - 2s, asked) << "ready only when the surplus calls have ended";
  rig.RunToClose();
  ExpectConserved(*rig.tally, Duration(60s).count());
  EXPECT_EQ(rig.tally->lanes.size(), 2u);
  std::set<std::uint32_t> lanes;
  for (const CallRecord& r : rig.sink.records) {
    EXPECT_NE(r.outcome, Outcome::kCut);
    if (r.step == 1) lanes.insert(r.lane);
  }
  EXPECT_EQ(lanes, (std::set<std::uint32_t>{0, 1}));
}

TEST(ReplayerSteps, WhatSurplusLanesHoldOpenIsCutAtTheDrainLimit) {
  Rig rig(4);
  rig.StartStep();
  rig.RunToClose();
  rig.transport.answer = [](std::size_t) { return FixedTransport::Answer{.service = 10min}; };
  rig.scheduler.Advance(5s);
  rig.specs.resize(1);
  const MonoTime asked = rig.scheduler.Now();
  rig.StartPlan(rig.Plan(1));
  EXPECT_EQ(rig.start - 2s, asked + 30s);
  EXPECT_EQ(rig.replayer->retired().lanes, 3u);
  EXPECT_GE(rig.replayer->retired().calls_cut, 3u);
  std::size_t cut = 0;
  for (const CallRecord& r : rig.sink.records) cut += r.outcome == Outcome::kCut ? 1 : 0;
  EXPECT_EQ(cut, rig.replayer->retired().calls_cut);
}

TEST(ReplayerSteps, AFreshStepBeginsWithNothingInFlightOnNewLanes) {
  Rig rig(3);
  rig.StartStep();
  rig.RunToClose();
  // As the coordinator numbers the plays of lanes that it makes again.
  for (LaneSpec& spec : rig.specs) spec.first_play = 1 << 20;
  rig.StartPlan(rig.Plan(1), 2s, /*fresh=*/true);
  EXPECT_EQ(rig.replayer->retired().lanes, 3u);
  EXPECT_EQ(rig.replayer->calls_in_flight(), 0u);
  EXPECT_GT(rig.primed.wanted, 0u) << "they start inside their sessions, as at the run's start";
  rig.RunToClose();
  ExpectConserved(*rig.tally, Duration(60s).count());
  for (const CallRecord& r : rig.sink.records) EXPECT_EQ(r.step == 1, r.play >= 1u << 20);
}

TEST(ReplayerSteps, ASecondPreparationTakesThePlaceOfOneThatStillDrains) {
  Rig rig(4);
  rig.StartStep();
  rig.RunToClose();
  rig.transport.answer = [](std::size_t) { return FixedTransport::Answer{.service = 20s}; };
  rig.scheduler.Advance(5s);
  rig.specs.resize(2);
  bool first_ready = false;
  ASSERT_TRUE(
      rig.replayer
          ->PrepareStep(rig.Plan(1), rig.specs, [&](const Primer::Result&) { first_ready = true; })
          .ok());
  rig.scheduler.Advance(1s);
  rig.StartPlan(rig.Plan(2));
  EXPECT_FALSE(first_ready);
  EXPECT_EQ(rig.replayer->retired().lanes, 2u);
  EXPECT_EQ(rig.replayer->lanes(), 2u);
  rig.RunToClose();
  EXPECT_EQ(rig.tally->step, 2u);
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(ReplayerSteps, AStopWhileLanesEndStopsThemToo) {
  Rig rig(4);
  rig.StartStep();
  rig.RunToClose();
  rig.transport.answer = [](std::size_t) { return FixedTransport::Answer{.service = 10min}; };
  rig.scheduler.Advance(5s);
  rig.specs.resize(2);
  bool ready = false;
  ASSERT_TRUE(
      rig.replayer
          ->PrepareStep(rig.Plan(1), rig.specs, [&](const Primer::Result&) { ready = true; })
          .ok());
  bool stopped = false;
  rig.replayer->Stop(1s, [&] { stopped = true; });
  rig.scheduler.Advance(1s + 10ms);
  EXPECT_TRUE(stopped);
  EXPECT_EQ(rig.replayer->calls_in_flight(), 0u);
  rig.scheduler.Advance(1min);
  EXPECT_FALSE(ready);
}

TEST(ReplayerSteps, ADecidedStepEndsAtTheAgreedInstantAndItsBooksAgree) {
  Rig rig(3);
  // Whatever is in flight at the end is one of these.
  rig.transport.answer = [](std::size_t n) {
    return FixedTransport::Answer{.service = n % 7 == 0 ? Duration(9s) : Duration(1s)};
  };
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 10s + 40s);
  rig.replayer->EndMeasure(0, 42s + 300ms);
  rig.RunToClose();
  EXPECT_GE(rig.scheduler.Now(), rig.start + 10s + 42s + 300ms);
  EXPECT_LT(rig.scheduler.Now(), rig.start + 10s + 42s + 400ms) << "nothing is waited for";
  ExpectConserved(*rig.tally, Duration(42s + 300ms).count());
  const std::uint64_t cut = rig.tally->outcomes[static_cast<std::size_t>(Outcome::kCut)];
  EXPECT_GE(cut, 3u) << "one a lane, all in flight";
  std::uint64_t measured = 0;
  std::uint64_t released = 0;
  for (const CallRecord& r : rig.sink.records) {
    const bool in =
        r.released >= Duration(10s).count() && r.released < Duration(52s + 300ms).count();
    if (in && r.step == 0) ++measured;
  }
  for (const LaneTally& lane : rig.tally->lanes) released += lane.plays.calls_released;
  EXPECT_EQ(measured, rig.tally->attempts_released);
  EXPECT_EQ(released, rig.tally->attempts_released) << "no call was tried twice";
  // The lanes go on, and the next step is like any other.
  rig.StartStep(1);
  rig.RunToClose();
  ExpectConserved(*rig.tally, Duration(60s).count());
}

TEST(ReplayerSteps, AnEndThatIsNotEarlierOrOfAnotherStepChangesNothing) {
  Rig rig(2);
  rig.StartStep();
  rig.replayer->EndMeasure(0, 20s);  // Before its start: of no step that runs.
  rig.scheduler.RunUntil(rig.start + 30s);
  rig.replayer->EndMeasure(1, 25s);
  rig.replayer->EndMeasure(0, 60s);
  rig.replayer->EndMeasure(0, 30min);
  rig.RunToClose();
  ExpectConserved(*rig.tally, Duration(60s).count());
  rig.replayer->EndMeasure(0, 25s);
  EXPECT_GE(rig.scheduler.Now(), rig.start + 70s);
}

TEST(ReplayerSteps, AnEndThatIsPastEndsNow) {
  Rig rig(2);
  rig.StartStep();
  rig.scheduler.RunUntil(rig.start + 10s + 30s);
  rig.replayer->EndMeasure(0, 10s);
  rig.RunToClose();
  ExpectConserved(*rig.tally, Duration(30s).count());
}

}  // namespace
}  // namespace plimsoll
