// In what compared runs differ: what makes them impossible to compare, and what a difference may be
// put down to.
#include "coordinator/report/comparison.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/report/compare_sample.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::TwoRecipes;

TEST(CompareDifferences, WhatWasNotMeasuredAlikeIsNamed) {
  const struct {
    void (*change)(ComparedRun&);
    const char* want;
  } cases[] = {
      {[](ComparedRun& r) { r.info.corpus_digest = "beef"; }, "another corpus (c0ffee00 against"},
      {[](ComparedRun& r) { r.scenario.mix[0].share = 3; }, "another mix (1 heavy : 1 light"},
      {[](ComparedRun& r) { r.model.bar.limits[0].value = 6; }, "another bar (TTFT P90 <= 5.3 s"},
      {[](ComparedRun& r) { r.model.bar.limits.pop_back(); }, "another bar"},
      {[](ComparedRun& r) { r.model.bar.evals.pass_rate = 0.9; }, "evals >= 90% right"},
      {[](ComparedRun& r) { r.scenario.evals = EvalsSpec{}; },
       "other evals beside the load (none against basic, 10% of all requests)"},
      {[](ComparedRun& r) { r.scenario.replay.history = History::kLive; },
       "other replay settings (history)"},
      {[](ComparedRun& r) {
         r.scenario.replay.think_time = ThinkTime::kRecorded;
         r.scenario.replay.failure.attempts_max = 1;
       },
       "other replay settings (think time, failure policy)"},
      {[](ComparedRun& r) { r.scenario.sweep.measure = 10min; },
       "another measured time (5m in blocks of 1m against 10m"},
      {[](ComparedRun& r) { r.scenario.sweep.block = 30s; }, "blocks of 30s"},
      {[](ComparedRun& r) { r.scenario.sweep.warm_up = 30s; }, "another warm-up (2m against 30s)"},
      {[](ComparedRun& r) { r.scenario.sweep.drain_between_steps = true; },
       "other between_steps (keep against drain)"},
      {[](ComparedRun& r) { r.scenario.sweep.drain_limit = 30s; },
       "another drain_limit (2m against 30s)"},
      {[](ComparedRun& r) { r.scenario.sweep.prime_limit = 30s; },
       "another prime_limit (1m against 30s)"},
      {[](ComparedRun& r) { r.scenario.target.call_deadline = 5min; },
       "other time limits of a call (call_deadline 10m against 5m)"},
      {[](ComparedRun& r) { r.scenario.target.idle_timeout = 30s; },
       "other time limits of a call (idle_timeout 2m against 30s)"},
      {[](ComparedRun& r) {
         r.scenario.target.connect_timeout = 1s;
         r.scenario.target.idle_timeout = 1h;
       },
       "(idle_timeout 2m against 1h, connect_timeout 10s against 1s)"},
  };
  EXPECT_THAT(NotComparable(TwoRecipes()), IsEmpty());
  for (const auto& c : cases) {
    std::vector<ComparedRun> runs = TwoRecipes();
    c.change(runs[1]);
    EXPECT_THAT(NotComparable(runs), ElementsAre(HasSubstr(c.want)));
    const Comparison anyway = CompareRuns(runs, 10);
    EXPECT_THAT(anyway.warnings, Contains(HasSubstr("not comparable: ")));
    EXPECT_THAT(anyway.pairs[0].steps, IsEmpty()) << c.want;
    EXPECT_FALSE(anyway.pairs[0].paired);
    EXPECT_FALSE(anyway.pairs[0].capacity_supported);
    EXPECT_FALSE(anyway.pairs[0].cost_supported);
    EXPECT_THAT(anyway.pairs[0].cost, HasSubstr("not comparable: "));
    EXPECT_FALSE(anyway.has_winner) << anyway.winner;
    EXPECT_THAT(anyway.winner, HasSubstr("none: not comparable: A was not measured as B was"));
  }
  // Where only one holds the target, too.
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[0].info.corpus_digest = "beef";
  EXPECT_FALSE(CompareRuns(runs, 15).has_winner);
}

TEST(CompareDifferences, WarnsWhereMoreThanOneThingDiffers) {
  Comparison comparison = CompareRuns(TwoRecipes(), 10);
  EXPECT_THAT(comparison.warnings,
              ElementsAre(HasSubstr("differ in 2 things, so a difference cannot be put down to one "
                                    "of them: 7.yaml -> 6.yaml (key engine.chunk); nodes (5 "
                                    "against 4")));
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[1].model.price->nodes = 4;
  Conclude(runs[1].model);
  comparison = CompareRuns(runs, 10);
  EXPECT_THAT(comparison.warnings, IsEmpty());
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("differ in one thing: 7.yaml -> 6.yaml")));

  runs[1].model.price->micros = 20'000'000;
  comparison = CompareRuns(runs, 10);
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("differ in 2 things")));
  EXPECT_THAT(comparison.warnings,
              Contains(HasSubstr("price of a node-hour (20.00 USD against 14.40 USD)")));
  runs[1].model.price->micros = runs[0].model.price->micros;

  runs[1].scenario.target.model = "glm-5.4";
  runs[1].scenario.target.headers = {{"x-team", "secret-value"}};
  runs[1].scenario.target.extra_body = "\"a\":1";
  runs[1].scenario.target.affinity_play_header = "X-Session-ID";
  runs[1].info.plimsoll_version = "0.2.0";
  comparison = CompareRuns(runs, 10);
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("differ in 5 things")));
  EXPECT_THAT(comparison.warnings,
              Contains(HasSubstr("affinity headers (play X-Session-ID against none)")));
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("target headers (x-team)")));
  EXPECT_THAT(comparison.warnings, Contains(HasSubstr("plimsoll 0.2.0")));
  EXPECT_THAT(comparison.warnings, Not(Contains(HasSubstr("secret-value"))));
}

// Nothing else differs, so the note names the one thing; that only the window differs is not said.
TEST(CompareDifferences, NamesTheOneSettingOfTheTargetThatDiffers) {
  const struct {
    void (*change)(ComparedRun&);
    const char* want;
  } cases[] = {
      {[](ComparedRun& r) { r.scenario.target.affinity_play_header = "X-Session-ID"; },
       "affinity headers (play none against X-Session-ID)"},
      {[](ComparedRun& r) { r.scenario.target.affinity_parent_header = "X-Parent"; },
       "affinity headers (parent none against X-Parent)"},
      {[](ComparedRun& r) { r.scenario.target.url = "http://127.0.0.1:8081/v1"; },
       "url (http://127.0.0.1:8080/v1 against http://127.0.0.1:8081/v1)"},
      {[](ComparedRun& r) { r.scenario.target.bearer_env = "TOKEN"; }, "access (bearer_env)"},
      {[](ComparedRun& r) { r.scenario.target.max_tokens = 100; },
       "max_tokens (65536 against 100)"},
      {[](ComparedRun& r) { r.scenario.target.tools = true; }, "tools"},
      {[](ComparedRun& r) { r.recipe->note = "3 copies"; },
       "note of the recipe (\"\" against \"3 copies\")"},
      {[](ComparedRun& r) { r.info.preflight->min_tokens = false; },
       "switches of the output's length that are honoured (min_tokens, ignore_eos against "
       "ignore_eos)"},
  };
  std::vector<ComparedRun> alike = {TwoRecipes()[0], TwoRecipes()[0]};
  alike[1].info.id += "-again";
  for (ComparedRun& run : alike) {
    run.info.preflight = PreflightSummary{.min_tokens = true, .ignore_eos = true};
  }
  EXPECT_THAT(CompareRuns(alike, 10).notes, Contains(HasSubstr("what differs is the window")));
  for (const auto& c : cases) {
    std::vector<ComparedRun> runs = alike;
    c.change(runs[1]);
    const Comparison comparison = CompareRuns(runs, 10);
    EXPECT_THAT(comparison.warnings, IsEmpty()) << c.want;
    EXPECT_THAT(comparison.notes,
                Contains(HasSubstr(std::string("A and B differ in one thing: ") + c.want)));
    EXPECT_THAT(comparison.notes, Not(Contains(HasSubstr("what differs is the window"))));
  }
  // Others are drawn by another seed, which is said where nothing else differs.
  alike[1].info.seed = 7;
  EXPECT_THAT(CompareRuns(alike, 10).notes,
              Contains(HasSubstr("what differs is the window, and which sessions were drawn")));
}

TEST(CompareDifferences, NamesEachHeaderOnceAlsoWhereOneNameHoldsAnother) {
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[0].scenario.target.headers = {{"x-team-b", "1"}, {"x-team", "1"}};
  runs[1].scenario.target.headers = {{"x-team-b", "2"}, {"x-team", "2"}};
  EXPECT_THAT(CompareRuns(runs, 10).warnings,
              Contains(HasSubstr("target headers (x-team-b, x-team)")));
}

TEST(CompareDifferences, SaysThatARecipeIsNotKept) {
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[0].recipe.reset();
  EXPECT_THAT(CompareRuns(runs, 10).warnings, Contains(HasSubstr("no recipe is kept with B")));
  runs = TwoRecipes();
  runs[1] = runs[0];
  runs[1].info.id = "again";
  EXPECT_THAT(CompareRuns(runs, 10).notes, Contains(HasSubstr("what differs is the window")));
}

}  // namespace
}  // namespace plimsoll
