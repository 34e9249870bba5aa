// What a plan makes of its corpus: how far its lanes fan out.
#include "coordinator/run/replay_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/limits.h"

namespace plimsoll {
namespace {

using ::testing::ElementsAre;

Call CallOf(std::uint32_t stream, std::uint32_t tokens, std::uint32_t service_ms) {
  return {.stream = stream, .tokens_in = tokens, .tokens_out = 5, .service_ms = service_ms};
}

// A main call, then three subagents at once of which one starts a fourth when it ends; the last of
// the first three is long over by then if `short_ms` is short.
Session FansOut(std::uint32_t short_ms) {
  Session s;
  s.id = "fans";
  s.tier = Tier::kHeavy;
  s.streams = {{}, {.parent_call = 0}, {.parent_call = 0}, {.parent_call = 0}, {.parent_call = 1}};
  s.calls = {CallOf(0, 100, 1000), CallOf(1, 100, 2000), CallOf(2, 100, 9000),
             CallOf(3, 900, short_ms), CallOf(4, 100, 1000)};
  return s;
}

Session Chain() {
  Session s;
  s.id = "chain";
  s.tier = Tier::kLight;
  s.streams = {{}};
  s.calls = {CallOf(0, 50, 1000), CallOf(0, 80, 1000), CallOf(0, 90, 0)};
  return s;
}

ReplayFacts FactsOf(const RunPlan& how, std::vector<Session> sessions) {
  Corpus corpus;
  corpus.models = {"m"};
  corpus.sessions = std::move(sessions);
  RunPlan plan = how;
  plan.tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
                {.name = "light", .tier = Tier::kLight, .share = 1}};
  return ReplayFacts(plan, corpus);
}

std::vector<std::uint32_t> Peaks(const RunPlan& how, std::vector<Session> sessions) {
  std::vector<std::uint32_t> peaks;
  const ReplayFacts facts = FactsOf(how, std::move(sessions));
  for (const LaneLoad& load : facts.lane_loads()) peaks.push_back(load.peak);
  return peaks;
}

TEST(ReplayFacts, APeakIsTheMostRequestsInFlightOfAnySessionOfTheTier) {
  EXPECT_THAT(Peaks({}, {FansOut(9000), Chain()}), ElementsAre(3, 1));
  EXPECT_THAT(Peaks({}, {Chain()}), ElementsAre(1, 1)) << "a tier without sessions";
  Session twice = FansOut(9000);
  twice.streams.push_back({.parent_call = 0});
  twice.calls.push_back(CallOf(5, 100, 500));
  EXPECT_THAT(Peaks({}, {FansOut(9000), twice, Chain()}), ElementsAre(4, 1));
}

TEST(ReplayFacts, CallsThatTheContextLimitLeavesOutAreNotInFlight) {
  RunPlan plan;
  plan.context_limit = {500, OverLimit::kSkipCalls};
  EXPECT_THAT(Peaks(plan, {FansOut(9000), Chain()}), ElementsAre(2, 1));
}

TEST(ReplayFacts, ALaneIsCountedByWhatItHasInFlightWhileBusy) {
  const ReplayFacts facts = FactsOf({}, {FansOut(2000), Chain()});
  const LaneLoad& heavy = facts.lane_loads()[0];
  // 0–1 s one; 1–3 s three; 3–4 s two (the fourth subagent); 4–10 s one.
  EXPECT_NEAR(heavy.mean, (1 * 1 + 2 * 3 + 1 * 2 + 6 * 1) / 10.0, 1e-9);
  EXPECT_NEAR(heavy.variance, (1 * 1 + 2 * 9 + 1 * 4 + 6 * 1) / 10.0 - 1.5 * 1.5, 1e-9);
  EXPECT_EQ(facts.lane_loads()[1].mean, 1);
}

TEST(ReplayFacts, ManyLanesAreNotAllAtTheirPeakAtOnce) {
  const ReplayFacts facts = FactsOf({}, {FansOut(2000), Chain()});
  const LaneNeeds many = facts.NeedsOf({4000, 5000});
  EXPECT_EQ(many.most.lanes, 9000u);
  EXPECT_EQ(many.most.connections, 4000u * 3 + 5000);
  // 6,000 and 5,000 with three standard deviations of sqrt(4000 · 0.65).
  EXPECT_EQ(many.expected.connections, 11'000u + 153);
  EXPECT_EQ(many.expected.history_bytes, 0u);
  const LaneNeeds few = facts.NeedsOf({1, 0});
  EXPECT_EQ(few.expected.connections, 3u) << "no more than its peak";
  const LaneNeeds light = facts.NeedsOf({0, 9000});
  EXPECT_EQ(light.expected.connections, 9000u);
  EXPECT_EQ(light.most.connections, 9000u);
}

TEST(ReplayFacts, LiveHistoryIsCountedByTheRecordedAnswersAndItsBound) {
  RunPlan plan;
  plan.history = History::kLive;
  Session wordy = Chain();
  wordy.calls[1].tokens_out = 1'000'000;
  const LaneNeeds needs = FactsOf(plan, {FansOut(2000), wordy}).NeedsOf({10, 1});
  EXPECT_EQ(needs.expected.history_bytes,
            10 * 25 * limits::kTokenBytes + limits::kLiveHistoryBytesMax);
  EXPECT_EQ(needs.most.history_bytes, 11 * limits::kLiveHistoryBytesMax);
}

}  // namespace
}  // namespace plimsoll
