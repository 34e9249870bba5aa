// The dry plan's arithmetic, on a corpus small enough to count by hand.
#include "coordinator/planning/dry_plan.h"

#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "common/plan/context_limit.h"
#include "coordinator/judge/proportion.h"
#include "coordinator/planning/planner.h"
#include "gtest/gtest.h"
#include "tests/common/corpus/random_session.h"

namespace plimsoll {
namespace {

// One heavy session of four calls of 2 s each, 640 tokens in and 100 out, each but the first
// keeping all ten blocks of the call before; one light session of one call of 1 s.
Corpus HandCorpus() {
  Corpus corpus;
  corpus.models = {"m"};
  Session heavy;
  heavy.tier = Tier::kHeavy;
  heavy.streams = {{}};
  for (std::int32_t c = 0; c < 4; ++c) {
    heavy.calls.push_back({.ref = c - 1,
                           .kept_blocks = c == 0 ? 0u : 10u,
                           .tokens_in = 640,
                           .tokens_out = 100,
                           .service_ms = 2000});
  }
  Session light;
  light.tier = Tier::kLight;
  light.streams = {{}};
  light.calls.push_back({.tokens_in = 64, .tokens_out = 0, .service_ms = 1000});
  corpus.sessions = {heavy, light};
  return corpus;
}

Scenario HandScenario() {
  Scenario s;
  s.name = "hand";
  s.mix = {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
           {.name = "light", .tier = Tier::kLight, .share = 1}};
  s.sweep.sessions = {2, 6};
  s.sweep.warm_up = 10s;
  s.sweep.measure = 100s;
  s.sweep.block = 10s;
  s.sweep.drain_limit = 30s;
  s.sweep.prime_limit = 20s;
  s.bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 3},
                  {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 20},
                  {.metric = Metric::kErrors, .value = 0.02}};
  s.fleet.local = 2;
  return s;
}

DryPlan PlanOf(const Scenario& scenario) {
  const Corpus corpus = HandCorpus();
  const auto plan = MakeRunPlan(scenario, corpus, {});
  EXPECT_TRUE(plan.ok());
  return MakeDryPlan(scenario, *plan, corpus);
}

TEST(DryPlan, CountsWhatAStepSends) {
  const DryPlan dry = PlanOf(HandScenario());
  ASSERT_EQ(dry.steps.size(), 2u);
  const DryStep& step = dry.steps[1];
  EXPECT_EQ(step.lanes_per_tier, (std::vector<std::uint32_t>{3, 3}));
  EXPECT_EQ(step.lanes_per_agent, (std::vector<std::uint32_t>{3, 3}));
  // Three heavy lanes make a call each 2 s, three light ones one each second.
  EXPECT_NEAR(step.requests, 3 * 50 + 3 * 100, 1e-6);
  EXPECT_NEAR(step.tokens_in, 150 * 640.0 + 300 * 64.0, 1e-3);
  EXPECT_NEAR(step.tokens_out, 150 * 100.0 + 300 * 1.0, 1e-3) << "no output asked for is one token";
  // 30 of the session's 40 full blocks are hits.
  EXPECT_NEAR(step.tokens_cached, 150 * 640 * 0.75, 1e-3);
  // At the bar a heavy call takes 3 s and 100 tokens at 20 tok/s, a light one 3 s and a token.
  EXPECT_NEAR(step.requests_at_bar, 3 * 100 / 8.0 + 3 * 100 / 3.05, 0.1);
}

TEST(DryPlan, ARehearsalThatShortensCallsShortensTheirTime) {
  Scenario scenario = HandScenario();
  scenario.replay.output_divisor = 4;
  EXPECT_NEAR(PlanOf(scenario).steps[1].requests, 4 * (3 * 50 + 3 * 100), 1e-6);
  scenario.corpus = {.file = "a.corpus", .scale = 5};
  EXPECT_NEAR(PlanOf(scenario).steps[1].requests, 4 * (3 * 50 + 3 * 100), 1e-6)
      << "a file is as it is";
  scenario.corpus = {.synthetic = "agentx", .scale = 5};
  EXPECT_NEAR(PlanOf(scenario).steps[1].requests, 20 * (3 * 50 + 3 * 100), 1e-6);
}

TEST(DryPlan, ABarNeverMakesMoreCallsThanTheRecording) {
  Scenario scenario = HandScenario();
  scenario.bar.limits[0].value = 0.01;
  scenario.bar.limits[1].value = 1e6;
  const DryPlan dry = PlanOf(scenario);
  EXPECT_NEAR(dry.steps[1].requests_at_bar, dry.steps[1].requests, 1e-6);
}

TEST(DryPlan, TimeIsThatOfAllSteps) {
  const DryPlan dry = PlanOf(HandScenario());
  EXPECT_EQ(dry.steps[0].at_least, Duration(112s));
  EXPECT_EQ(dry.steps[0].at_most, Duration(162s));
  EXPECT_EQ(dry.at_least, Duration(224s));
  EXPECT_EQ(dry.at_most, Duration(324s));
}

TEST(DryPlan, CostIsNodesTimesPriceTimesTime) {
  Scenario scenario = HandScenario();
  EXPECT_FALSE(PlanOf(scenario).cost_at_least.has_value());
  scenario.cost = CostSpec{.nodes = 4, .per_node_hour = {14'400'000, "USD"}};
  const DryPlan dry = PlanOf(scenario);
  // 57.60 USD an hour, 224 s and 324 s.
  EXPECT_EQ(PrintMoney(*dry.cost_at_least), "3.58 USD");
  EXPECT_EQ(PrintMoney(*dry.cost_at_most), "5.18 USD");
  scenario.cost->nodes = 100;
  scenario.cost->per_node_hour.micros = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(PlanOf(scenario).cost_at_most.has_value());
}

TEST(DryPlan, PrecisionFollowsTheCalls) {
  const DryPlan dry = PlanOf(HandScenario());
  const Precision& ttft = dry.steps[1].parts.at(0);
  EXPECT_EQ(ttft.calls, 450u);
  EXPECT_EQ(ttft.calls_needed, 36u);
  // t(5) at 97.5% is 2.5706.
  ASSERT_TRUE(ttft.close.has_value());
  EXPECT_NEAR(ttft.close->low, 0.9 - 2.5706 * std::sqrt(2 * 0.09 / 450), 1e-4);
  EXPECT_NEAR(ttft.close->high, 0.9 + 2.5706 * std::sqrt(2 * 0.09 / 450), 1e-4);
  EXPECT_EQ(ttft.measure_for_half, Duration(400s));
  EXPECT_NEAR(ToSeconds(ttft.measure_needed), 8, 1e-6);
}

// The errors part is what the judge makes of it: at the edges of `close` its interval touches the
// limit, and with no failure at all it passes from calls_needed on (whose half suffices where calls
// do not depend on each other).
TEST(DryPlan, ErrorsAreForetoldByTheJudgesOwnRule) {
  const DryPlan dry = PlanOf(HandScenario());
  const Precision& errors = dry.steps[1].parts.at(2);
  EXPECT_EQ(errors.calls_needed, 2 * 183u) << "docs/statistics.md: 183 for 2%";
  ASSERT_TRUE(errors.close.has_value());
  const double n = 450 / kDesignEffectAssumed;
  EXPECT_NEAR(ClopperPearson(errors.close->low * n, n).high, 0.02, 1e-6);
  EXPECT_NEAR(ClopperPearson(errors.close->high * n, n).low, 0.02, 1e-6);
  EXPECT_GT(errors.close->high - 0.02, 1.2 * (0.02 - errors.close->low)) << "not symmetrical";
  for (const std::uint64_t calls : {182u, 183u}) {
    std::vector<ShareCell> cells;
    for (std::uint32_t lane = 0; lane < 6; ++lane) {
      cells.push_back({.lane = lane, .n = calls / 6 + (lane < calls % 6 ? 1 : 0)});
    }
    EXPECT_EQ(Compare(SmallShareOf(cells), 0.02, Side::kBelow).side,
              calls == 183 ? Side::kBelow : Side::kCrosses);
  }
}

// Baseline runs that differ: errors pass under 2% only and fail over 6% only.
TEST(DryPlan, ErrorsPassAtTheLimitsStricterEdgeAndFailAtItsLooserOne) {
  Scenario scenario = HandScenario();
  const Precision exact = PlanOf(scenario).steps[1].parts.at(2);
  Limit& limit = scenario.bar.limits[2];
  limit.value = 0.035;
  limit.origin = LimitOrigin{.runs = {"a", "b"}, .baseline = 0.03, .low = 0.02, .high = 0.06};
  const Precision errors = PlanOf(scenario).steps[1].parts.at(2);
  EXPECT_EQ(errors.calls_needed, exact.calls_needed);
  ASSERT_TRUE(errors.close.has_value());
  EXPECT_NEAR(errors.close->low, exact.close->low, 1e-9);
  const double n = 450 / kDesignEffectAssumed;
  EXPECT_NEAR(ClopperPearson(errors.close->high * n, n).low, 0.06, 1e-6);
}

TEST(DryPlan, APercentilesChancesAreThoseOfItsEdges) {
  Scenario scenario = HandScenario();
  scenario.sweep.measure = 1000s;
  const Precision exact = PlanOf(scenario).steps[1].parts.at(0);
  scenario.bar.limits[0].origin =
      LimitOrigin{.runs = {"a", "b"}, .baseline = 3, .low = 2.6, .high = 3.5};
  const Precision wide = PlanOf(scenario).steps[1].parts.at(0);
  ASSERT_TRUE(exact.better_passes && wide.better_passes);
  EXPECT_LT(*wide.better_passes, *exact.better_passes - 0.1);
  EXPECT_LT(*wide.worse_fails, *exact.worse_fails - 0.1);
}

TEST(DryPlan, ErrorsThatNoNumberOfCallsCanPassSaySo) {
  Scenario scenario = HandScenario();
  scenario.bar.limits = {{.metric = Metric::kErrors, .value = 0}};
  const Precision none = PlanOf(scenario).steps[1].parts.at(0);
  EXPECT_EQ(none.calls_needed, kNoNumber);
  ASSERT_TRUE(none.close.has_value());
  EXPECT_EQ(none.close->low, 0);
  EXPECT_GT(none.close->high, 0);
  scenario.bar.limits[0].value = 1;
  EXPECT_LT(PlanOf(scenario).steps[1].parts.at(0).calls_needed, 5u);
}

TEST(DryPlan, CallsAreRoundedAsTheTableRoundsRequests) {
  Scenario scenario = HandScenario();
  scenario.sweep.sessions = {2};
  scenario.sweep.measure = 100600ms;  // 50.3 and 100.6 calls.
  EXPECT_EQ(PlanOf(scenario).steps[0].parts.at(0).calls, 151u);
}

TEST(DryPlan, MeasuresAreOfWholeBlocksWithinTheLimits) {
  EXPECT_EQ(MeasureOfBlocks(98s, 3s), std::optional<Duration>(99s));
  EXPECT_EQ(MeasureOfBlocks(99s, 3s), std::optional<Duration>(99s));
  EXPECT_EQ(MeasureOfBlocks(99s + Duration(1), 3s), std::optional<Duration>(102s));
  EXPECT_EQ(MeasureOfBlocks(Duration{0}, 3s), std::optional<Duration>(3s));
  EXPECT_EQ(MeasureOfBlocks(4096s, 1s), std::optional<Duration>(4096s));
  EXPECT_EQ(MeasureOfBlocks(4097s, 1s), std::nullopt) << "blocks";
  EXPECT_EQ(MeasureOfBlocks(24h, 1h), std::optional<Duration>(24h));
  EXPECT_EQ(MeasureOfBlocks(24h + 1s, 1h), std::nullopt) << "a day";
  EXPECT_EQ(MeasureOfBlocks(1s, Duration{0}), std::nullopt);
}

TEST(DryPlan, AStepThatCannotCarryItsPercentileShowsIt) {
  Scenario scenario = HandScenario();
  scenario.sweep.measure = 10s;
  scenario.sweep.sessions = {1};
  const DryPlan dry = PlanOf(scenario);
  const Precision& ttft = dry.steps[0].parts.at(0);
  EXPECT_LT(ttft.calls, ttft.calls_needed);
  EXPECT_GT(ttft.measure_needed, scenario.sweep.measure);
  EXPECT_FALSE(ttft.close.has_value()) << "one lane has no spread to learn from";
}

TEST(DryPlan, SessionsWithoutTimeOrCallsAreNoDivisionByZero) {
  const Scenario scenario = HandScenario();
  Corpus corpus = HandCorpus();
  for (Session& session : corpus.sessions) {
    for (Call& call : session.calls) call.service_ms = 0;
  }
  const auto plan = MakeRunPlan(scenario, corpus, {});
  ASSERT_TRUE(plan.ok());
  const DryPlan dry = MakeDryPlan(scenario, *plan, corpus);
  EXPECT_TRUE(std::isfinite(dry.steps[0].requests));
  EXPECT_EQ(dry.steps[0].parts[0].measure_needed, Duration{0});
}

TEST(DryPlan, ATiersLimitIsAboutItsLanesAndCalls) {
  Scenario s = HandScenario();
  s.bar.limits.push_back({.metric = Metric::kTtft, .quantile = 0.95, .value = 2, .tier = "heavy"});
  const DryPlan dry = PlanOf(s);
  const DryStep& step = dry.steps[1];
  EXPECT_EQ(step.parts[0].calls, 450u);
  EXPECT_EQ(step.parts[3].calls, 150u) << "three heavy lanes, a call each 2 s";
  EXPECT_EQ(step.parts[3].calls_needed, 72u);
  // Two degrees of freedom: t = 4.3027.
  EXPECT_NEAR(0.95 - step.parts[3].close->low,
              4.302652729911275 * std::sqrt(kDesignEffectAssumed * 0.95 * 0.05 / 150), 1e-9);
  // As slow as the bar allows heavy calls are 2 s + 100/20 s now, not 3 s + 5 s.
  EXPECT_NEAR(step.requests_at_bar, 3 * 100 / 7.0 + 3 * 100 / 3.05, 0.1);
  EXPECT_NEAR(ToSeconds(step.parts[3].measure_needed_at_bar), 72 * 7 / 3.0, 0.1);
}

TEST(DryPlan, GoodputAndEndToEndLimitHowSlowACallMayBe) {
  Scenario s = HandScenario();
  s.bar.limits = {{.metric = Metric::kGoodput, .quantile = 0.9, .value = 4}};
  EXPECT_NEAR(PlanOf(s).steps[1].requests_at_bar, 3 * 100 / 4.0 + 3 * 100 / 4.0, 0.1);
  s.bar.limits.push_back({.metric = Metric::kEndToEndInteractivity, .quantile = 0.9, .value = 40});
  // 100 tokens at 40 tok/s are 2.5 s; a light call has one token and is never faster than recorded.
  EXPECT_NEAR(PlanOf(s).steps[1].requests_at_bar, 3 * 100 / 2.5 + 3 * 100 / 1.0, 0.1);
}

// What one heavy lane sends in 100 s under a context limit.
struct Sent {
  double calls = 0;
  double calls_at_bar = 0;
  double tokens_in = 0;
  double tokens_cached = 0;
  double tokens_out = 0;
};

Sent SentUnder(const ContextLimit& limit, const Corpus& corpus) {
  Scenario scenario = HandScenario();
  scenario.mix.pop_back();
  scenario.sweep.sessions = {1};
  scenario.replay.context_limit = limit;
  const auto plan = MakeRunPlan(scenario, corpus, {});
  EXPECT_TRUE(plan.ok()) << MessageOf(plan.status());
  if (!plan.ok()) return {};
  const DryStep step = MakeDryPlan(scenario, *plan, corpus).steps.at(0);
  return {step.requests, step.requests_at_bar, step.tokens_in, step.tokens_cached, step.tokens_out};
}

// Calls of 1,280 tokens are over a limit of 1,100 and take 6 s, the others 2 s; each asks for 100
// tokens. One session has such a call second, one never, and one begins with it.
Corpus LongCorpus() {
  const auto call = [](std::int32_t ref, std::uint32_t kept, std::uint32_t in) {
    return Call{.ref = ref,
                .kept_blocks = kept,
                .tokens_in = in,
                .tokens_out = 100,
                .service_ms = in == 1280 ? 6000u : 2000u};
  };
  Corpus corpus;
  corpus.models = {"m"};
  corpus.sessions.resize(3);
  for (Session& session : corpus.sessions) {
    session.tier = Tier::kHeavy;
    session.streams = {{}};
  }
  corpus.sessions[0].calls = {call(-1, 0, 640), call(0, 10, 1280), call(1, 10, 640),
                              call(1, 15, 960)};
  corpus.sessions[1].calls = {call(-1, 0, 640)};
  corpus.sessions[2].calls = {call(-1, 0, 1280), call(0, 10, 640)};
  return corpus;
}

// `calls` calls take `seconds` and hold `in` tokens, `hit` of their `blocks` blocks cached.
void ExpectSent(OverLimit policy, double calls, double seconds, double in, double hit,
                double blocks) {
  SCOPED_TRACE(Name(policy));
  const Sent sent = SentUnder({1100, policy}, LongCorpus());
  const double rounds = 100 / seconds;
  EXPECT_NEAR(sent.calls, rounds * calls, 1e-6);
  EXPECT_NEAR(sent.tokens_in, rounds * in, 1e-3);
  EXPECT_NEAR(sent.tokens_cached, rounds * in * hit / blocks, 1e-3);
  EXPECT_NEAR(sent.tokens_out, rounds * calls * 100, 1e-3);
  EXPECT_LT(sent.calls_at_bar, sent.calls);
}

TEST(DryPlanContextLimit, SendSendsAll) {
  ExpectSent(OverLimit::kSend, 7, 22, 6080, 45, 95);
}

TEST(DryPlanContextLimit, SkippedCallsAreNotCounted) {
  // Of what the skipped call brought, later calls find nothing cached: 10 and 10 blocks of a's.
  ExpectSent(OverLimit::kSkipCalls, 5, 10, 3520, 20, 55);
}

TEST(DryPlanContextLimit, SessionsEndBeforeTheirFirstCallOver) {
  ExpectSent(OverLimit::kEndSession, 2, 4, 1280, 0, 20);
}

TEST(DryPlanContextLimit, DroppedSessionsAreNotCounted) {
  ExpectSent(OverLimit::kDropSessions, 1, 2, 640, 0, 10);
}

TEST(DryPlanContextLimit, OnlySessionsWithALongStartAreDropped) {
  ExpectSent(OverLimit::kDropLongStarts, 5, 14, 4160, 35, 65);
}

// The share of blocks that calls find cached, by the set of blocks sent before.
double CachedShare(const Session& session, const std::vector<char>& out) {
  using Block = std::pair<std::size_t, std::uint32_t>;  // The call that brought it first, place.
  std::vector<std::vector<Block>> prompts;
  std::set<Block> sent;
  double hits = 0;
  double blocks = 0;
  for (std::size_t c = 0; c < session.calls.size(); ++c) {
    const Call& call = session.calls[c];
    std::vector<Block>& prompt = prompts.emplace_back();
    for (std::uint32_t b = 0; b < call.blocks(); ++b) {
      prompt.push_back(b < call.kept_blocks ? prompts[call.ref][b] : Block{c, b});
    }
    if (!out.empty() && out[c] != 0) continue;
    for (const Block& block : prompt) hits += sent.contains(block) ? 1 : 0;
    sent.insert(prompt.begin(), prompt.end());
    blocks += call.blocks();
  }
  return blocks > 0 ? hits / blocks : 0;
}

TEST(DryPlanContextLimit, CachedTokensAreThoseOfBlocksSentBeforeOnRandomSessions) {
  int left_out = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Corpus corpus;
    corpus.models = {"m"};
    corpus.sessions = {RandomSession(seed, 40)};
    corpus.sessions[0].tier = Tier::kHeavy;
    for (Call& call : corpus.sessions[0].calls) call.service_ms += 1;
    RunPlan plan;
    plan.context_limit = {600, OverLimit::kSkipCalls};
    plan.target.max_tokens = 1000;
    const std::vector<char> out = LeftOut(plan, corpus.sessions[0]);
    if (!out.empty()) ++left_out;
    const Sent sent = SentUnder(plan.context_limit, corpus);
    EXPECT_NEAR(sent.tokens_cached / sent.tokens_in, CachedShare(corpus.sessions[0], out), 1e-9);
  }
  EXPECT_GT(left_out, 20);
}

}  // namespace
}  // namespace plimsoll
