// Comparisons over models: the ranking, what the data supports, what is refused and warned of, and
// how it reads (golden files; PLIMSOLL_UPDATE_GOLDEN=1 rewrites them).
#include <algorithm>
#include <cmath>
#include <sstream>

#include "common/base/text.h"
#include "common/json/json.h"
#include "coordinator/report/compare_json.h"
#include "coordinator/report/compare_text.h"
#include "coordinator/report/comparison.h"
#include "coordinator/report/text_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/report/compare_sample.h"
#include "tests/fakes/golden.h"

namespace plimsoll {
namespace {

using ::testing::Contains;
using testing::ExpectGolden;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TwoRecipes;

TEST(Compare, ReadsAsTheGoldenFiles) {
  const Comparison comparison = CompareRuns(TwoRecipes(), 10);
  ExpectGolden("compare/two.txt", CompareText(comparison));
  ExpectGolden("compare/two.json", CompareJson(comparison));
  std::istringstream lines(CompareText(comparison));
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(Columns(line), kReportColumns) << line;
    EXPECT_EQ(line, Printable(line));
  }
}

TEST(Compare, TheCheapestThatHoldsTheTargetWins) {
  // 4 x 14.40 / 10 = 5.76 against 5 x 14.40 / 15 = 4.80 per session-hour.
  const Comparison at_ten = CompareRuns(TwoRecipes(), 10);
  ASSERT_TRUE(at_ten.has_winner);
  EXPECT_EQ(at_ten.runs[0].id, "20260102-recipe-7");
  EXPECT_DOUBLE_EQ(*at_ten.runs[0].cost.per_session_hour.value, 4.8);
  EXPECT_DOUBLE_EQ(*at_ten.runs[1].cost.per_session_hour.value, 5.76);
  EXPECT_THAT(at_ten.winner, HasSubstr("the cheapest of 2 that hold 10 sessions (9.7 requests in "
                                       "flight), at 4.8 USD"));

  const Comparison at_fifteen = CompareRuns(TwoRecipes(), 15);
  EXPECT_THAT(at_fifteen.winner, HasSubstr("the only one that holds 15 sessions"));
  EXPECT_EQ(at_fifteen.runs[1].verdict.verdict, Verdict::kFail);

  std::vector<ComparedRun> runs = TwoRecipes();
  runs[1].model.price->micros *= 2;  // 9.60 a session-hour.
  Conclude(runs[1].model);
  const Comparison dearer = CompareRuns(runs, 10);
  EXPECT_EQ(dearer.runs[0].id, "20260101-recipe-6") << "holds fewer, but for less";
}

TEST(Compare, WithoutAPriceNobodyIsTheCheapest) {
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[0].model.price.reset();
  Conclude(runs[0].model);
  Comparison comparison = CompareRuns(runs, 10);
  EXPECT_FALSE(comparison.has_winner);
  EXPECT_THAT(comparison.winner, HasSubstr("because B has no price"));
  EXPECT_FALSE(comparison.pairs[0].cost_supported);
  EXPECT_THAT(comparison.pairs[0].cost, HasSubstr("no data of B"));
  EXPECT_THAT(CompareText(comparison), HasSubstr("– not known: the scenario names no price"));

  runs = TwoRecipes();
  runs[0].model.price->currency = "EUR";
  Conclude(runs[0].model);
  comparison = CompareRuns(runs, 10);
  EXPECT_FALSE(comparison.has_winner);
  EXPECT_THAT(comparison.winner, HasSubstr("different currencies"));
  EXPECT_THAT(comparison.pairs[0].cost, HasSubstr("not comparable: USD against EUR"));
}

TEST(Compare, NobodyWinsWhereNobodyHolds) {
  const Comparison comparison = CompareRuns(TwoRecipes(), 40);
  EXPECT_FALSE(comparison.has_winner);
  EXPECT_THAT(comparison.winner, HasSubstr("no recipe holds 40 sessions"));
}

const StepDifference& At(const Comparison& comparison, std::uint32_t sessions, Metric metric) {
  for (const StepDifference& step : comparison.pairs.at(0).steps) {
    if (step.sessions == sessions && step.limit.metric == metric) return step;
  }
  ADD_FAILURE() << "no such difference";
  return comparison.pairs.at(0).steps.at(0);
}

TEST(Compare, SaysWhichDifferencesTheDataSupports) {
  const Comparison comparison = CompareRuns(TwoRecipes(), 10);
  ASSERT_TRUE(comparison.pairs[0].paired);
  const StepDifference& big = At(comparison, 15, Metric::kTtft);
  EXPECT_TRUE(big.share.supported());
  EXPECT_TRUE(big.first_better);
  EXPECT_GT(big.share.low, 0.1);
  EXPECT_FALSE(At(comparison, 15, Metric::kInteractivity).share.supported());
  EXPECT_EQ(At(comparison, 15, Metric::kErrors).share.value, 0);
  // 15 or more against 10 to under 15: apart.
  EXPECT_TRUE(comparison.pairs[0].capacity_supported);
  EXPECT_THAT(comparison.pairs[0].capacity, HasSubstr("that A holds more is supported"));
}

TEST(Compare, ALadderOfOneTierIsAnotherLoad) {
  std::vector<ComparedRun> runs = TwoRecipes();
  for (ComparedRun& run : runs) {
    testing::AddStep({10, {9, 9, 9}}, &run);
    testing::AddStep({40, {0, 0, 1}}, &run);
    for (std::size_t i = 2; i < 4; ++i) run.model.steps[i].summary.origin.ladder = "light";
    Conclude(run.model);
  }
  const Comparison with = CompareRuns(runs, 10);
  const Comparison without = CompareRuns(TwoRecipes(), 10);
  EXPECT_EQ(with.runs[0].verdict.verdict, Verdict::kPass) << "the mix holds what light misses";
  EXPECT_EQ(with.winner, without.winner);
  ASSERT_TRUE(with.has_winner);
  ASSERT_EQ(with.pairs[0].steps.size(), without.pairs[0].steps.size());
  EXPECT_EQ(At(with, 10, Metric::kTtft).share.value, At(without, 10, Metric::kTtft).share.value);
  EXPECT_EQ(with.pairs[0].capacity, without.pairs[0].capacity);

  // The other way round: light holds 15, which recipe 6 misses on the mix.
  runs = TwoRecipes();
  for (ComparedRun& run : runs) {
    testing::AddStep({15, {0, 0, 1}}, &run);
    run.model.steps.back().summary.origin.ladder = "light";
    Conclude(run.model);
  }
  const Comparison light_holds = CompareRuns(runs, 15);
  EXPECT_EQ(light_holds.runs[1].id, "20260101-recipe-6");
  EXPECT_EQ(light_holds.runs[1].verdict.verdict, Verdict::kFail);
  EXPECT_THAT(light_holds.winner, HasSubstr("the only one that holds 15 sessions"));
}

TEST(Compare, AStepThatWasFailedEarlyGivesNoDifference) {
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[0].model.steps[1].summary.origin.failed_early_after = 3;
  const Comparison comparison = CompareRuns(runs, 10);
  EXPECT_THAT(At(comparison, 15, Metric::kTtft).why_not,
              HasSubstr("20260101-recipe-6 was failed early, after 3 of 5 blocks"));
  EXPECT_EQ(At(comparison, 10, Metric::kTtft).why_not, "");
}

TEST(Compare, CapacitiesThatMayBeTheSameAreNotToldApart) {
  std::vector<ComparedRun> runs = TwoRecipes();
  testing::AddStep({20, {6, 6, 6}}, &runs[1]);
  runs[0].model.steps.pop_back();
  runs[0].cells.pop_back();
  Conclude(runs[0].model);
  Conclude(runs[1].model);
  // 10 or more against 15 to under 20.
  const Comparison comparison = CompareRuns(runs, 10);
  EXPECT_FALSE(comparison.pairs[0].capacity_supported);
  EXPECT_THAT(comparison.pairs[0].capacity, HasSubstr("not supported by this data"));
  EXPECT_FALSE(comparison.pairs[0].cost_supported);
}

// A capacity of `low` to `high` sessions, likeliest `value`.
Capacity CapacityAt(double low, double value, double high) {
  const auto at = [](double sessions) {
    return CapacityEnd{.sessions = sessions, .requests_in_flight = std::floor(sessions) * 0.5};
  };
  Capacity capacity{.passed = 10};
  capacity.band = CapacityBand{.value = at(value), .low = at(low), .high = at(high)};
  return capacity;
}

TEST(Compare, CapacitiesAreInWholeSessionsRoundedDownAsTheReportHasThem) {
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[1].model.capacity = CapacityAt(1050.2, 1234.5, 1400);
  runs[0].model.capacity = CapacityAt(90, 100.99, 104.96);
  const Comparison comparison = CompareRuns(runs, 10);
  ASSERT_EQ(comparison.runs[0].id, "20260102-recipe-7");
  EXPECT_EQ(comparison.pairs[0].capacity,
            "A 1234.5 → 1234 sessions [1050–1400] (617.0 requests in flight [525.0–700.0]), B "
            "100.9 → 100 sessions [90–104] (50.0 requests in flight [45.0–52.0]): that A holds "
            "more is supported");
  const std::string text = CompareText(comparison);
  // The requests beside a capacity are its own, not those of the last step that held.
  EXPECT_THAT(text, HasSubstr("A  pass    1234 [1050–1400]  617.0"));
  EXPECT_THAT(text, HasSubstr("B  pass    100 [90–104]      50.0"));
  EXPECT_THAT(text, Not(HasSubstr("e+0")));
}

TEST(Compare, CapacitiesThatShareAWholeNumberAreNotToldApart) {
  const auto supported = [](const Capacity& a, const Capacity& b) {
    std::vector<ComparedRun> runs = TwoRecipes();
    runs[1].model.capacity = a;
    runs[0].model.capacity = b;
    const PairComparison pair = CompareRuns(runs, 10).pairs[0];
    return std::pair(pair.capacity_supported, pair.cost_supported);
  };
  // Both may hold 11, though 11.2 is more than 11.1.
  EXPECT_FALSE(supported(CapacityAt(11.2, 12, 13), CapacityAt(10, 10.5, 11.1)).first);
  EXPECT_TRUE(supported(CapacityAt(12, 12, 13), CapacityAt(10, 10.5, 11.1)).first);
  // At 12 of five nodes a session costs 72 / 12, at 10 of four 57.6 / 10: not dearer, not cheaper.
  EXPECT_FALSE(supported(CapacityAt(12.5, 13, 14), CapacityAt(10, 10, 10)).second);
  EXPECT_TRUE(supported(CapacityAt(13, 13, 14), CapacityAt(10, 10, 10.9)).second);
  // Under 5 is at most 4.
  const CapacityEnd under{.kind = CapacityEnd::Kind::kBelow, .sessions = 5};
  Capacity below{.passed = 10};
  below.band = CapacityBand{.value = under, .low = under, .high = under};
  EXPECT_TRUE(supported(CapacityAt(5, 5, 6), below).first);
  EXPECT_FALSE(supported(CapacityAt(4, 5, 6), below).first);
  Capacity none{.passed = 10};
  EXPECT_FALSE(supported(CapacityAt(5, 5, 6), none).first);
}

TEST(Compare, RequestsInFlightThatNobodyToldAreNotZero) {
  std::vector<ComparedRun> runs = TwoRecipes();
  for (ReportedStep& step : runs[0].model.steps) step.summary.requests_in_flight_mean = 0;
  const Comparison comparison = CompareRuns(runs, 10);
  EXPECT_FALSE(comparison.runs[1].target_in_flight.has_value());
  EXPECT_FALSE(comparison.pairs[0].steps[0].in_flight_other.has_value());
  const std::string text = CompareText(comparison);
  EXPECT_THAT(text, HasSubstr("target     10 sessions; requests in flight: A 9.7\n"));
  EXPECT_THAT(text, HasSubstr("  10 sessions, 9.7 requests in flight against –\n"));
}

TEST(Compare, OtherSeedsAreNotPaired) {
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[1].info.seed = 7;
  const Comparison comparison = CompareRuns(runs, 10);
  EXPECT_FALSE(comparison.pairs[0].paired);
  EXPECT_THAT(comparison.pairs[0].why_unpaired, HasSubstr("seed 7 against 42"));
  EXPECT_FALSE(At(comparison, 15, Metric::kTtft).share.by_lane);
  EXPECT_TRUE(At(comparison, 15, Metric::kTtft).share.supported()) << "large enough all the same";
}

TEST(Compare, AlwaysSaysThatOneNightIsOneNight) {
  const Comparison comparison = CompareRuns(TwoRecipes(), 10);
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("one night is one night")));
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("6 differences were looked at")));
}

TEST(Compare, PartsWithoutDataAndVoidStepsGiveNoDifference) {
  std::vector<ComparedRun> runs = TwoRecipes();
  PartVerdict& part = runs[0].model.steps[1].summary.verdict.parts[0];
  part.verdict = Verdict::kNoData;
  part.reason = "only 80% of the planned load was sent";
  Comparison comparison = CompareRuns(runs, 10);
  EXPECT_THAT(At(comparison, 15, Metric::kTtft).why_not, HasSubstr("no data: only 80%"));
  runs[0].model.steps[1].summary.verdict.is_void = true;
  comparison = CompareRuns(runs, 10);
  for (const StepDifference& step : comparison.pairs[0].steps) EXPECT_EQ(step.sessions, 10u);

  runs = TwoRecipes();
  runs[1].cells.clear();
  runs[1].cells_unread = "its cells are an earlier version's";
  comparison = CompareRuns(runs, 10);
  EXPECT_THAT(At(comparison, 10, Metric::kTtft).why_not, HasSubstr("an earlier version's"));
  runs = TwoRecipes();
  for (CellCounts& cell : runs[1].cells[0]) cell.parts.clear();
  comparison = CompareRuns(runs, 10);
  EXPECT_THAT(At(comparison, 10, Metric::kTtft).why_not, HasSubstr("another bar"));
}

TEST(Compare, TheTargetIsTheScenariosOrMustBeNamed) {
  std::vector<ComparedRun> runs = TwoRecipes();
  EXPECT_EQ(*CommonTarget(runs, std::nullopt), 10u);
  EXPECT_EQ(*CommonTarget(runs, 15), 15u);
  runs[1].model.target.reset();
  const auto differ = CommonTarget(runs, std::nullopt);
  EXPECT_TRUE(absl::IsInvalidArgument(differ.status()));
  EXPECT_THAT(std::string(differ.status().message()), HasSubstr("--target N"));
  EXPECT_EQ(*CommonTarget(runs, 15), 15u);
}

TEST(Compare, WithoutATargetTheFirstStepsMustBeTheSame) {
  std::vector<ComparedRun> runs = TwoRecipes();
  for (ComparedRun& run : runs) run.model.target.reset();
  const auto same = CommonTarget(runs, std::nullopt);
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_FALSE(same->has_value());
  // A light ladder's first step is no first step of the load.
  testing::AddStep({3, {0}}, &runs[1]);
  std::rotate(runs[1].model.steps.begin(), runs[1].model.steps.end() - 1,
              runs[1].model.steps.end());
  runs[1].model.steps[0].summary.origin.ladder = "light";
  EXPECT_TRUE(CommonTarget(runs, std::nullopt).ok());
  runs[1].model.steps[0].summary.origin.ladder = kMixLadder;
  const auto differ = CommonTarget(runs, std::nullopt);
  ASSERT_TRUE(absl::IsInvalidArgument(differ.status()));
  EXPECT_THAT(std::string(differ.status().message()),
              HasSubstr("differ (20260101-recipe-6 10, 20260102-recipe-7 3); name one with "
                        "--target N"));
  EXPECT_EQ(*CommonTarget(runs, 10), 10u);
}

TEST(Compare, ARunThatDidNotEndByItselfIsWarnedOf) {
  std::vector<ComparedRun> runs = TwoRecipes();
  runs[0].info.state = RunState::kStopped;
  runs[0].info.message = "stopped by a person";
  EXPECT_THAT(CompareRuns(runs, 10).warnings,
              Contains(HasSubstr("B was stopped: stopped by a person: it is ranked by the steps")));
  runs[0].info.state = RunState::kFailed;
  runs[0].info.message.clear();
  EXPECT_THAT(CompareRuns(runs, 10).warnings, Contains(HasSubstr("B failed: it is ranked")));
  runs[0].info.state = RunState::kRunning;
  EXPECT_THAT(CompareRuns(runs, 10).warnings, Contains(HasSubstr("B has not ended: it is ranked")));
  runs[0].info.state = RunState::kFinished;
  EXPECT_THAT(CompareRuns(runs, 10).warnings, Not(Contains(HasSubstr("it is ranked"))));
}

TEST(Compare, HostileTextNeitherSteersATerminalNorBreaksTheJson) {
  std::vector<ComparedRun> runs = TwoRecipes();
  for (ComparedRun& run : runs) {
    run.info.name = "\x1b[31m\n\xff";
    run.model.started_at = "\xff";
    run.info.plimsoll_version = run.info.id + "\xff\n";
    run.scenario.target.model = run.info.id + "\x1b";
  }
  const Comparison comparison = CompareRuns(runs, 10);
  const std::string text = CompareText(comparison);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(CompareJson(comparison), nullptr, false).is_discarded());
}

TEST(Compare, ManyRunsAreEachComparedWithTheFirst) {
  std::vector<ComparedRun> runs;
  for (std::size_t i = 0; i < kRunsComparedMax; ++i) {
    runs.push_back(TwoRecipes()[i % 2]);
    runs.back().info.id += "-" + std::to_string(i);
  }
  const Comparison comparison = CompareRuns(runs, 10);
  EXPECT_EQ(comparison.pairs.size(), kRunsComparedMax - 1);
  EXPECT_EQ(comparison.runs.back().letter, "Z");
}

}  // namespace
}  // namespace plimsoll
