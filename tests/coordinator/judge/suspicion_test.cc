// Every check of the suspicion list: one step that trips it, and beside it one that just does not.
#include "coordinator/judge/suspicion.h"

#include <algorithm>
#include <functional>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/judge/evidence_builder.h"

namespace plimsoll {
namespace {

using ::plimsoll::testing::Healthy;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Suspicion> Look(const StepEvidence& evidence, const SuspicionContext& context = {}) {
  return SuspicionsOf(evidence, false, context);
}

// The one suspicion of `evidence`; empty if there is none, or another than `check`.
std::string Only(SuspicionCheck check, const StepEvidence& evidence,
                 const SuspicionContext& context = {}) {
  const std::vector<Suspicion> found = Look(evidence, context);
  if (found.size() != 1) return "";
  EXPECT_EQ(found[0].check, check) << found[0].text;
  return found[0].check == check ? found[0].text : "";
}

TEST(Suspicion, AHealthyStepTripsNothing) {
  EXPECT_THAT(Look(Healthy()), IsEmpty());
  EXPECT_THAT(Look(StepEvidence{}), IsEmpty()) << "what is missing is no suspicion";
}

TEST(Suspicion, UsageThatIsMissingOrContradictsTheStream) {
  StepEvidence e = Healthy();
  e.usage_missing = 4;
  e.fidelity.doubts.no_output = 2;
  EXPECT_THAT(Look(e), IsEmpty()) << "6 of 600 are 1%";
  e.fidelity.doubts.first_chunk_over = 1;
  EXPECT_THAT(Only(SuspicionCheck::kCountsDisagree, e),
              HasSubstr("usage of 4 of 600 ok calls is missing, and of 3 contradicts"));
}

TEST(Suspicion, TheServerCountsAnotherNumber) {
  StepEvidence e = Healthy();
  e.suspicion.measured_attempts = 600;
  // 2%, and twice 9.7 calls of 600 at the ends of the measured time: 5.2%.
  SuspicionContext context{.others = {}, .server = ServerCounts{.requests = 631}};
  EXPECT_THAT(Look(e, context), IsEmpty());
  context.server->requests = 632;
  EXPECT_THAT(Only(SuspicionCheck::kCountsDisagree, e, context),
              HasSubstr("we count 600 calls answered, the server 632 (5.3% apart)"));
  context.server = ServerCounts{.tokens_in = 8'000'000, .tokens_out = 100'000};
  EXPECT_EQ(Look(e, context).size(), 2u);
  e.tokens_in.reset();
  EXPECT_EQ(Look(e, context).size(), 1u) << "what we do not know disagrees with nothing";
}

TEST(Suspicion, RefusalsThatNobodyCounted) {
  StepEvidence e = Healthy();
  e.suspicion.refusals_ok = 1;
  e.suspicion.refusals_failed = 4;
  EXPECT_THAT(
      Only(SuspicionCheck::kRefusalsUncounted, e),
      HasSubstr("5 attempts came with HTTP 429, 503 or a Retry-After and are not counted as "
                "refused (1 as ok, 4 as another failure)"));
  e = Healthy();
  e.outcomes[static_cast<std::size_t>(Outcome::kRefused)] = 50;
  EXPECT_THAT(Look(e), IsEmpty()) << "refusals that are counted as such";
}

TEST(Suspicion, StatusesAndOutcomesDisagree) {
  StepEvidence e = Healthy();
  e.suspicion.ok_with_other_status = 2;
  e.suspicion.refused_with_other_status = 3;
  EXPECT_THAT(Only(SuspicionCheck::kRefusalsUncounted, e),
              HasSubstr("2 ok attempts without a 2xx, 3 refused ones with neither"));
}

TEST(Suspicion, TheWarmUpAteTheStep) {
  StepEvidence e = Healthy();
  // 120 s of warm-up and 300 s measured: 200 attempts in the one are 500 in the other.
  e.suspicion.warm_up_attempts = 200;
  e.suspicion.measured_attempts = 250;
  EXPECT_THAT(Look(e), IsEmpty());
  e.suspicion.measured_attempts = 249;
  EXPECT_THAT(Only(SuspicionCheck::kWarmUpAteStep, e),
              HasSubstr("the warm-up released 1.67 attempts a second, the measured time 0.83"));
  e.suspicion = {.warm_up_attempts = 19, .measured_attempts = 0};
  EXPECT_THAT(Look(e), IsEmpty()) << "too few to say";
  e.plan.warm_up = 0s;
  e.suspicion.warm_up_attempts = 100;
  EXPECT_THAT(Look(e), IsEmpty()) << "without a warm-up there is no rate in it";
}

std::vector<BlockFigures> Blocks(double first_s, double fastest_s, double slowest_s) {
  const auto ns = [](double s) { return FromSeconds(s).count(); };
  return {{0, 60, ns(first_s)}, {1, 60, ns(slowest_s)}, {2, 60, ns(fastest_s)}};
}

TEST(Suspicion, TheOpeningWaveStillRuns) {
  StepEvidence e = Healthy();
  e.suspicion.blocks = Blocks(4.5, 2, 3);
  EXPECT_THAT(Look(e), IsEmpty()) << "half as much again as the slowest of the others";
  e.suspicion.blocks = Blocks(4.51, 2, 3);
  EXPECT_THAT(Only(SuspicionCheck::kWarmUpAteStep, e),
              HasSubstr("first block's median TTFT is 4.51 s, the others' 2 to 3 s: the opening"));
  e.suspicion.blocks = Blocks(1.3, 2, 3);
  EXPECT_THAT(Only(SuspicionCheck::kWarmUpAteStep, e), HasSubstr("the queue still grows"));
  e.suspicion.blocks = Blocks(1.34, 2, 3);
  EXPECT_THAT(Look(e), IsEmpty());
}

TEST(Suspicion, ABlockOfFewCallsSaysNothing) {
  StepEvidence e = Healthy();
  e.suspicion.blocks = Blocks(30, 2, 3);
  e.suspicion.blocks[0].ttft_n = 19;
  EXPECT_THAT(Look(e), IsEmpty());
  e.suspicion.blocks = Blocks(30, 2, 3);
  e.suspicion.blocks[2].ttft_n = 19;
  EXPECT_THAT(Look(e), IsEmpty()) << "a single other block is no regime";
}

TEST(Suspicion, PromptsAreNotAsLongAsRecorded) {
  StepEvidence e = Healthy();
  e.fidelity.drift_over = 6;
  EXPECT_THAT(Look(e), IsEmpty()) << "one in a hundred";
  e.fidelity.drift_over = 7;
  e.fidelity.tokens_reported = 9'009'000;
  EXPECT_THAT(Only(SuspicionCheck::kPromptsUnlike, e),
              HasSubstr("7 of 600 calls are off by over 2%, all tokens by +0.1%"));
  e.fidelity.drift_over = 0;
  e.fidelity.tokens_reported = 8'800'000;  // Every prompt just within 2%, but in all beyond it.
  EXPECT_THAT(Only(SuspicionCheck::kPromptsUnlike, e), HasSubstr("all tokens by -2.2%"));
}

TEST(Suspicion, CacheHitsFarFromTheTrace) {
  StepEvidence e = Healthy();
  SuspicionCounts& s = e.suspicion;
  s.cache_n = 100;
  s.tokens_planned = 640'000;  // One block a call is 1% of them.
  s.tokens_predicted = 576'000;
  s.tokens_reported = 1'000'000;
  s.tokens_cached = 791'000;
  EXPECT_THAT(Look(e), IsEmpty()) << "10.9 points less than 90%";
  s.tokens_cached = 789'000;
  EXPECT_THAT(
      Only(SuspicionCheck::kCacheUnlikeTrace, e),
      HasSubstr("79% of the prompt tokens came from the cache, the trace predicts 90% with a "
                "cache that forgets nothing: it is off"));
  s.tokens_predicted = 64'000;
  s.tokens_cached = 250'000;
  EXPECT_THAT(Only(SuspicionCheck::kCacheUnlikeTrace, e),
              HasSubstr("prompts hit what this run did"));
  s.cache_n = 19;
  EXPECT_THAT(Look(e), IsEmpty());
}

TEST(Suspicion, ChunksAreNotTokens) {
  StepEvidence e = Healthy();
  UsageDoubts& d = e.fidelity.doubts;
  d = {.answers = 500, .answers_unlike = 5, .chunks = 5'000, .tokens = 20'000};
  EXPECT_THAT(Look(e), IsEmpty()) << "one answer in a hundred";
  d.answers_unlike = 6;
  EXPECT_THAT(
      Only(SuspicionCheck::kChunksUnlikeTokens, e),
      HasSubstr("in 6 of 500 answers they differ by over 10%; 0.25 chunks a token over all: "
                "several tokens come in one"));
  d.chunks = 40'000;
  EXPECT_THAT(Only(SuspicionCheck::kChunksUnlikeTokens, e), HasSubstr("speed is understated"));
}

TEST(Suspicion, ClocksStepped) {
  StepEvidence e = Healthy();
  // 100 ms, and 500 ppm of 300 s.
  e.agents[0].wall_moved_ns = 250'000'000;
  EXPECT_THAT(Look(e), IsEmpty()) << "a time service may slew so much";
  e.agents[0].wall_moved_ns = -260'000'000;
  EXPECT_THAT(Only(SuspicionCheck::kClocksStepped, e),
              HasSubstr("the wall clock of agent 'agent-0' moved -0.26 s"));
  e.agents[0].wall_moved_ns = 0;
  e.suspicion.wall_moved_ns = 3'000'000'000;
  EXPECT_THAT(Only(SuspicionCheck::kClocksStepped, e),
              HasSubstr("the wall clock of the coordinator moved +3 s"));
}

TEST(Suspicion, EveryCallIsAlike) {
  StepEvidence e = Healthy();
  const auto spread = [](std::int64_t base, double share, int n) {
    Histogram h;
    for (int i = 0; i < n; ++i) {
      h.Record(base + static_cast<std::int64_t>(share * static_cast<double>(base) * (i % 10) / 10));
    }
    return h;
  };
  e.ttft_ns = spread(2'000'000'000, 0.01, 600);
  EXPECT_THAT(Only(SuspicionCheck::kCallsAlike, e), HasSubstr("TTFT of 600 calls has P90 and P50"));
  e.ttft_ns = spread(2'000'000'000, 0.01, 49);
  EXPECT_THAT(Look(e), IsEmpty()) << "49 calls may be alike by chance";
  e.ttft_ns = spread(2'000'000'000, 0.1, 600);
  EXPECT_THAT(Look(e), IsEmpty());
  e.rate_mtok_s = spread(30'000, 0.005, 500);
  EXPECT_THAT(Only(SuspicionCheck::kCallsAlike, e), HasSubstr("interactivity of 500 calls"));
}

// A step of so many sessions of which each cell has so many failures.
StepFigures Failing(std::uint32_t sessions, std::uint32_t failed_a_cell, bool is_void = false) {
  StepEvidence e = Healthy();
  e.plan.sessions = sessions;
  for (CellCounts& cell : e.cells) cell.failed = failed_a_cell;
  return FiguresOf(e, is_void);
}

TEST(Suspicion, ErrorsFallWhileTheLoadRises) {
  StepEvidence e = Healthy();
  e.plan.sessions = 15;
  EXPECT_THAT(Only(SuspicionCheck::kErrorsFell, e, {.others = {Failing(10, 3)}}),
              HasSubstr("errors fell from 25.00%"));
  EXPECT_THAT(Look(e, {.others = {Failing(20, 3)}}), IsEmpty()) << "they rise with the load";
  EXPECT_THAT(Look(e, {.others = {Failing(10, 3, true)}}), IsEmpty()) << "a void step says nothing";
  EXPECT_THAT(SuspicionsOf(e, true, {.others = {Failing(10, 3)}}), IsEmpty());
  StepEvidence one = e;  // A single failure in the lighter step is within the intervals.
  one.plan.sessions = 10;
  one.cells[0].failed = 1;
  EXPECT_THAT(Look(e, {.others = {FiguresOf(one, false)}}), IsEmpty());
}

TEST(Suspicion, ALighterStepThatComesLaterIsComparedToo) {
  StepEvidence e = Healthy();
  e.plan.sessions = 12;
  for (CellCounts& cell : e.cells) cell.failed = 3;
  EXPECT_THAT(Only(SuspicionCheck::kErrorsFell, e, {.others = {Failing(10, 3), Failing(15, 0)}}),
              HasSubstr("at 12 sessions to 0.00%"));
}

TEST(Suspicion, OnlyTheNearestNeighboursAreCompared) {
  StepEvidence e = Healthy();
  e.plan.sessions = 20;
  EXPECT_THAT(Look(e, {.others = {Failing(5, 3), Failing(10, 0)}}), IsEmpty());
  EXPECT_THAT(Look(e, {.others = {Failing(10, 3), Failing(10, 0)}}), IsEmpty())
      << "of a step that was repeated the last counts";
}

// 100 calls: `fast` of them at 1 s, the rest at `slow_s`.
StepFigures Figures(std::uint32_t sessions, int fast, double slow_s) {
  StepEvidence e = Healthy();
  e.plan.sessions = sessions;
  e.ttft_ns = {};
  for (int i = 0; i < 100; ++i) e.ttft_ns.Record(FromSeconds(i < fast ? 1 : slow_s).count());
  return FiguresOf(e, false);
}

StepEvidence Spread(std::uint32_t sessions, int fast, double slow_s) {
  StepEvidence e = Healthy();
  e.plan.sessions = sessions;
  e.ttft_ns = {};
  for (int i = 0; i < 100; ++i) e.ttft_ns.Record(FromSeconds(i < fast ? 1 : slow_s).count());
  return e;
}

TEST(Suspicion, TheMeanFallsWhileTheTailGrows) {
  // Mean 2.5 s and P90 4 s; then mean 1.7 s and P90 4.5 s.
  const SuspicionContext lighter{.others = {Figures(10, 50, 4)}};
  EXPECT_THAT(
      Only(SuspicionCheck::kMeanDownTailUp, Spread(15, 80, 4.5), lighter),
      HasSubstr("from 10 to 15 sessions the mean TTFT fell from 2.5 to 1.7 s while P90 rose "
                "from 4"));
  EXPECT_THAT(Look(Spread(15, 80, 4.2), lighter), IsEmpty()) << "the tail is up by 5%";
  EXPECT_THAT(Look(Spread(15, 55, 4.5), lighter), IsEmpty()) << "the mean is up";
  EXPECT_THAT(Look(Spread(15, 80, 3), lighter), IsEmpty()) << "both are down";
  StepEvidence failing = Spread(15, 80, 3);
  failing.ttft_infinite = 20;
  EXPECT_THAT(Only(SuspicionCheck::kMeanDownTailUp, failing, lighter), HasSubstr("to infinite"));
  failing.ttft_ns = {};
  EXPECT_THAT(Look(failing, lighter), IsEmpty()) << "no call, no mean";
}

TEST(Suspicion, AgentsThatWereHeldBackAreSaidOnceForAllWithTheWorst) {
  StepEvidence e = Healthy();
  const std::int64_t percent = e.plan.measure.count() / 100;
  e.agents.push_back(e.agents[0]);
  e.agents.push_back(e.agents[0]);
  e.agents[2].name = "agent-2";
  e.agents[0].host.stolen_ns = 2 * percent;
  e.agents[0].host.throttled_ns = 2 * percent;
  EXPECT_TRUE(SuspicionsOf(e, false, {}).empty()) << "at the bound";
  e.agents[1].host.stolen_ns = 3 * percent;
  e.agents[2].host.stolen_ns = 11 * percent;
  e.agents[2].lateness_p99_ns = 7'300'000;
  const std::string stolen = Only(SuspicionCheck::kAgentHeldBack, e);
  EXPECT_THAT(stolen, HasSubstr("to other guests: 2 of 3 agents, at worst 'agent-2' by 11.0%"));
  EXPECT_THAT(stolen, HasSubstr("P99 of its releases 7.3 ms late"));
  for (AgentEvidence& agent : e.agents) agent.host.stolen_ns.reset();
  e.agents[1].host.throttled_ns = 9 * percent;
  EXPECT_THAT(Only(SuspicionCheck::kAgentHeldBack, e),
              HasSubstr("throttled the generator: 1 of 3 agents, at worst 'agent-0' by 9.0%"));
}

TEST(Suspicion, ChecksHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (int i = 1; i <= kSuspicionChecks; ++i) names.insert(Name(static_cast<SuspicionCheck>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kSuspicionChecks));
  EXPECT_EQ(names.count("unknown"), 0u);
  EXPECT_EQ(Name(static_cast<SuspicionCheck>(0)), "unknown");
}

TEST(Suspicion, AnExtensionCountsOnAndIsNoOpening) {
  SuspicionCounts step{.warm_up_attempts = 10, .measured_attempts = 40, .refusals_ok = 1};
  step.blocks = {{0, 20, 5}, {1, 20, 6}};
  SuspicionCounts later{
      .warm_up_attempts = 3, .measured_attempts = 50, .refusals_ok = 2, .wall_moved_ns = 7};
  later.blocks = {{0, 25, 7}};
  step.Extend(later, 3);  // Nobody answered in its last block.
  EXPECT_EQ(step.warm_up_attempts, 10u);
  EXPECT_EQ(step.measured_attempts, 90u);
  EXPECT_EQ(step.refusals_ok, 3u);
  EXPECT_EQ(step.wall_moved_ns, 7);
  ASSERT_EQ(step.blocks.size(), 3u);
  EXPECT_EQ(step.blocks[2], (BlockFigures{3, 25, 7}));
}

}  // namespace
}  // namespace plimsoll
