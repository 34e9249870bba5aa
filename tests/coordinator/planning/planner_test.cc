// A scenario and its corpus into a plan: what is carried over, what is refused, the prompt that
// preflight tries.
#include "coordinator/planning/planner.h"

#include <fmt/format.h>

#include "common/plan/lanes.h"
#include "common/plan/session_graph.h"
#include "coordinator/planning/replay_plan.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

// Three heavy sessions of three calls, two light ones of one.
Corpus SmallCorpus() {
  Corpus corpus;
  corpus.models = {"m"};
  for (std::uint32_t i = 0; i < 5; ++i) {
    Session s;
    s.tier = i < 3 ? Tier::kHeavy : Tier::kLight;
    s.streams = {{}};
    for (std::uint32_t c = 0; c < (i < 3 ? 3u : 1u); ++c) {
      s.calls.push_back({.tokens_in = 1000 * (i + 1) + 100 * c, .service_ms = 1000});
    }
    corpus.sessions.push_back(s);
  }
  return corpus;
}

Scenario SmallScenario() {
  Scenario s;
  s.name = "recipe-7";
  s.target.url = "http://127.0.0.1:8080/v1";
  s.target.model = "m";
  s.mix = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
           {.name = "light", .tier = Tier::kLight, .share = 1}};
  s.sweep.sessions = {5, 10};
  s.sweep.target = 10;
  s.fleet.local = 3;
  s.fleet.wait = 33s;
  s.seed = 42;
  s.replay.output_divisor = 4;
  s.replay.output_mode = OutputMode::kFixed;
  s.replay.output_tokens = 30;
  s.replay.isolate_prefixes = true;
  return s;
}

TEST(Planner, LaddersGetTheirTierAndTheSweepsSteps) {
  Scenario scenario = SmallScenario();
  scenario.mix = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1}};
  scenario.tier_ladders = {{.name = "light", .tier = Tier::kLight},
                           {.name = "heavy", .tier = Tier::kHeavy}};
  scenario.sweep.budget = 2h;
  scenario.sweep.drain_between_steps = true;
  const auto plan = MakeRunPlan(scenario, SmallCorpus(), {});
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->tiers.size(), 2u);
  EXPECT_EQ(plan->tiers[1].name, "light");
  EXPECT_EQ(plan->tiers[1].share, 0u) << "no lane of the mix is one of its";
  const std::vector<std::uint32_t> slots = {0};
  for (const LaneSpec& lane : AssignLanes(plan->tiers, 7, slots)) EXPECT_EQ(lane.tier, 0);
  for (const LaneSpec& lane : AssignLanes(TiersAlone(plan->tiers, 1), 7, slots)) {
    EXPECT_EQ(lane.tier, 1);
    EXPECT_EQ(lane.rank, lane.lane);
  }
  const RunSettings settings = MakeRunSettings(scenario);
  EXPECT_EQ(settings.tier_ladders,
            (std::vector<TierLadder>{{.name = "light", .tier = 1, .sessions = {5, 10}},
                                     {.name = "heavy", .tier = 0, .sessions = {5, 10}}}));
  EXPECT_EQ(settings.budget, Duration(2h));
  EXPECT_TRUE(settings.refine);
  EXPECT_TRUE(settings.extend);
  EXPECT_TRUE(settings.fail_early);
  EXPECT_TRUE(settings.drain_between_steps);

  Corpus heavy_only = SmallCorpus();
  for (Session& s : heavy_only.sessions) s.tier = Tier::kHeavy;
  const auto none = MakeRunPlan(scenario, heavy_only, {});
  ASSERT_FALSE(none.ok());
  EXPECT_NE(MessageOf(none.status()).find("the ladder wants light sessions"),
            std::string_view::npos)
      << none.status();
}

TEST(Planner, CarriesTheScenarioOver) {
  const Scenario scenario = SmallScenario();
  const auto plan =
      MakeRunPlan(scenario, SmallCorpus(), {.run_id = "r1", .nonce = 77, .corpus_digest = "abc"});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->run_id, "r1");
  EXPECT_EQ(plan->nonce, 77u);
  EXPECT_EQ(plan->corpus_digest, "abc");
  EXPECT_EQ(plan->seed, 42u);
  EXPECT_EQ(plan->tiers, scenario.mix);
  EXPECT_EQ(plan->target, scenario.target);
  EXPECT_EQ(plan->output_divisor, 4u);
  EXPECT_EQ(plan->output_mode, OutputMode::kFixed);
  EXPECT_EQ(plan->output_tokens, 30u);
  EXPECT_TRUE(plan->isolate_prefixes);
  const RunSettings settings = MakeRunSettings(scenario);
  EXPECT_EQ(settings.sessions, (std::vector<std::uint32_t>{5, 10}));
  EXPECT_EQ(settings.target, 10u);
  EXPECT_EQ(settings.agents, 3u);
  EXPECT_TRUE(settings.local_agents);
  EXPECT_EQ(settings.gather_limit, Duration(33s));
  EXPECT_EQ(settings.step.measure, scenario.sweep.measure);
}

TEST(Planner, ATierThatTheCorpusLacksIsRefusedByName) {
  Corpus corpus = SmallCorpus();
  corpus.sessions.resize(3);
  const auto plan = MakeRunPlan(SmallScenario(), corpus, {});
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(MessageOf(plan.status()).find("light"), std::string_view::npos);
}

TEST(Planner, TheLongestFirstPromptIsOneThatALaneBeginsWith) {
  const Corpus corpus = SmallCorpus();
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Scenario scenario = SmallScenario();
    scenario.seed = seed;
    const RunPlan plan = *MakeRunPlan(scenario, corpus, {});
    const FirstPrompt prompt = LongestFirstPrompt(plan, corpus, 5);
    const std::uint32_t tokens = corpus.sessions[prompt.session].calls[prompt.call].tokens_in;
    const SessionRotation rotation(corpus, plan.tiers, plan.seed);
    const std::vector<std::uint32_t> slots = {0};
    bool begins = false;
    for (const LaneSpec& lane : AssignLanes(plan.tiers, 5, slots)) {
      const std::uint32_t session = *rotation.SessionFor(lane.tier, lane.rank, 0);
      const Session& s = corpus.sessions[session];
      // Its calls last a second each, so the one at the start point is known by its share.
      const double at = StartShare(seed, lane.lane, 0) * static_cast<double>(s.calls.size());
      const auto call = static_cast<std::uint32_t>(at);
      EXPECT_LE(s.calls[call].tokens_in, tokens) << "seed " << seed << " lane " << lane.lane;
      begins |= session == prompt.session && call == prompt.call;
    }
    EXPECT_TRUE(begins) << "seed " << seed;
  }
}

TEST(Planner, CarriesTheReplayOverAndRefusesALimitThatLeavesATierEmpty) {
  Scenario scenario = SmallScenario();
  scenario.replay.context_limit = {4100, OverLimit::kDropSessions};
  scenario.replay.history = History::kLive;
  scenario.replay.failure.silence = Silence::kStream;
  const auto plan = MakeRunPlan(scenario, SmallCorpus(), {});
  // The light sessions have one call each, of 4,000 and of 5,000 tokens.
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->context_limit, scenario.replay.context_limit);
  EXPECT_EQ(plan->history, History::kLive);
  EXPECT_EQ(plan->failure, scenario.replay.failure);
  scenario.replay.context_limit.tokens = 4000;
  const auto none = MakeRunPlan(scenario, SmallCorpus(), {});
  EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(MessageOf(none.status()).find("leaves none of the 2 light sessions"),
            std::string_view::npos)
      << none.status();
}

TEST(Planner, TheLongestFirstPromptIsNeverOneThatTheContextLimitLeavesOut) {
  const Corpus corpus = SmallCorpus();
  Scenario scenario = SmallScenario();
  scenario.replay.context_limit = {4150, OverLimit::kSkipCalls};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    scenario.seed = seed;
    const FirstPrompt prompt = LongestFirstPrompt(*MakeRunPlan(scenario, corpus, {}), corpus, 5);
    EXPECT_LT(corpus.sessions[prompt.session].calls[prompt.call].tokens_in, 4150u);
  }
}

TEST(Planner, ReplayLinesShowPausesAndEveryContextPolicySideBySide) {
  Corpus corpus = SmallCorpus();
  for (Session& session : corpus.sessions) {
    for (Call& call : session.calls) call.delay_ms = 4000;
  }
  Scenario scenario = SmallScenario();
  scenario.replay.think_time = ThinkTime::kRecorded;
  scenario.replay.think_time_cap = 1s;
  scenario.replay.history = History::kLive;
  // Calls have 1000, 1100, 1200, 2000, … 3200 and 4000, 5000 tokens, and ask for one more.
  scenario.replay.context_limit = {3100, OverLimit::kDropLongStarts};
  const auto refused = MakeRunPlan(scenario, corpus, {});
  EXPECT_FALSE(refused.ok()) << "both light sessions start over it";
  scenario.mix.pop_back();
  const RunPlan plan = *MakeRunPlan(scenario, corpus, {});
  EXPECT_EQ(fmt::format("{}", fmt::join(ReplayLines(plan, corpus), "\n")),
            R"(pauses    think time at most 1s: heavy 24s recorded, 18s (75.0%) removed
history   live: the server's own answers (content only), at most 1024 KiB a session, then text of the recorded length
context   limit 3100 tokens of prompt and asked output; left out by policy (send: over it and sent), * is this plan's:
          send             2 of 9 heavy calls (22.2%)
          skip_calls       0 of 3 heavy sessions, 2 of 9 calls (22.2%), 33.3% of prompt tokens
          end_session      0 of 3 heavy sessions, 2 of 9 calls (22.2%), 33.3% of prompt tokens
          drop_sessions    1 of 3 heavy sessions, 3 of 9 calls (33.3%), 49.2% of prompt tokens
        * drop_long_starts 0 of 3 heavy sessions, 0 of 9 calls (0.0%), 0.0% of prompt tokens, 2 calls over it are sent)");
}

}  // namespace
}  // namespace plimsoll
