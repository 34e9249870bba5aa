// What a plan makes of its corpus: how far its lanes fan out.
#include "coordinator/run/replay_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

std::vector<std::uint32_t> Peaks(const RunPlan& how, std::vector<Session> sessions) {
  Corpus corpus;
  corpus.models = {"m"};
  corpus.sessions = std::move(sessions);
  RunPlan plan = how;
  plan.tiers = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
                {.name = "light", .tier = Tier::kLight, .share = 1}};
  return ReplayFacts(plan, corpus).peaks_in_flight();
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

}  // namespace
}  // namespace plimsoll
