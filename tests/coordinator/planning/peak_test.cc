// The busiest minute and what it is worth in sessions, by hand.
#include "coordinator/planning/peak.h"

#include <cmath>
#include <limits>

#include "coordinator/planning/dry_plan.h"
#include "coordinator/planning/planner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;

WallTime At(double seconds) {
  return WallTime(FromSeconds(1'700'000'000 + seconds));
}

// One sample each 15 s from At(0).
std::vector<GaugePoint> Every15s(const std::vector<double>& values) {
  std::vector<GaugePoint> points;
  for (std::size_t i = 0; i < values.size(); ++i) {
    points.push_back({At(15.0 * static_cast<double>(i)), values[i]});
  }
  return points;
}

TimeRange Of(const std::vector<GaugePoint>& points) {
  return {points.front().at, points.back().at};
}

TEST(Peak, TheBusiestMinuteIsTheLargestMeanOfAnyMinute) {
  // A spike of one sample is no minute; the minute around the plateau is.
  const auto points = Every15s({0, 90, 0, 0, 0, 0, 30, 31, 33, 30, 4, 0});
  const GaugeSummary s = Summarize(points, Of(points), 15s);
  ASSERT_TRUE(s.busiest.has_value());
  EXPECT_EQ(s.busiest->from, At(90));
  EXPECT_EQ(s.busiest->length, Duration(60s));
  EXPECT_DOUBLE_EQ(s.busiest->mean, 31);
  EXPECT_EQ(s.points, 12u);
  EXPECT_EQ(s.missing, 0u);
  EXPECT_NEAR(s.mean, 218.0 / 12, 1e-12);
}

TEST(Peak, OfEqualMinutesItIsTheFirst) {
  const auto points = Every15s({5, 5, 5, 5, 5, 5});
  EXPECT_EQ(Summarize(points, Of(points), 15s).busiest->from, At(0));
}

TEST(Peak, AMinuteWithAHoleIsNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto points = Every15s({50, 50, nan, 50, 50, 3, 3, 3, 3});
  GaugeSummary s = Summarize(points, Of(points), 15s);
  EXPECT_NEAR(s.busiest->mean, (50 + 50 + 3 + 3) / 4.0, 1e-12);
  EXPECT_EQ(s.not_numbers, 1u);
  EXPECT_EQ(s.longest_gap, Duration(15s));

  points.erase(points.begin() + 2);  // The sample is not there at all.
  s = Summarize(points, Of(points), 15s);
  EXPECT_NEAR(s.busiest->mean, (50 + 50 + 3 + 3) / 4.0, 1e-12);
  EXPECT_EQ(s.missing, 1u);
  EXPECT_EQ(s.not_numbers, 0u);
}

TEST(Peak, NumbersThatNoGaugeOfRequestsHasAreNotCounted) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto points = Every15s({1, inf, -3, 2, 2, 2, 2});
  const GaugeSummary s = Summarize(points, Of(points), 15s);
  EXPECT_EQ(s.not_numbers, 1u);
  EXPECT_EQ(s.negative, 1u);
  EXPECT_EQ(s.points, 5u);
  EXPECT_DOUBLE_EQ(s.busiest->mean, 2);
}

TEST(Peak, WithoutAWholeMinuteThereIsNoBusiestOne) {
  const auto points = Every15s({7, 7, 7});
  const GaugeSummary s = Summarize(points, {At(0), At(300)}, 15s);
  EXPECT_FALSE(s.busiest.has_value());
  EXPECT_EQ(s.points, 3u);
  EXPECT_EQ(s.missing, 18u);
  EXPECT_EQ(s.longest_gap, Duration(270s));
  EXPECT_FALSE(Summarize({}, {At(0), At(300)}, 15s).busiest.has_value());
  EXPECT_FALSE(Summarize(points, {At(0), At(300)}, 0s).busiest.has_value());
}

TEST(Peak, AStepThatIsNoPartOfAMinuteTakesTheSamplesThatCoverOne) {
  std::vector<GaugePoint> points;
  points.reserve(10);
  for (int i = 0; i < 10; ++i) points.push_back({At(25.0 * i), i == 4 ? 30.0 : 0.0});
  GaugeSummary s = Summarize(points, Of(points), 25s);
  EXPECT_EQ(s.busiest->length, Duration(75s));
  EXPECT_DOUBLE_EQ(s.busiest->mean, 10);
  s = Summarize({{At(0), 4}, {At(300), 9}}, {At(0), At(300)}, 300s);
  EXPECT_EQ(s.busiest->length, Duration(300s));
  EXPECT_DOUBLE_EQ(s.busiest->mean, 9);
}

TEST(Peak, SamplesOffTheGridOrOutsideTheRangeAreLeftOut) {
  const GaugeSummary s = Summarize(
      {{At(-15), 99}, {At(0), 1}, {At(7), 99}, {At(15), 1}, {At(30), 1}, {At(45), 1}, {At(60), 99}},
      {At(0), At(45)}, 15s);
  EXPECT_DOUBLE_EQ(s.busiest->mean, 1);
  EXPECT_EQ(s.points, 4u);
}

TEST(Peak, ARangeIsSplitAtWhatOneQueryAnswers) {
  const TimeRange week{At(0), At(7 * 86'400)};
  const auto parts = SplitRange(week, 15s);
  ASSERT_TRUE(parts.ok());
  ASSERT_EQ(parts->size(), 4u);  // 40,321 samples.
  std::uint64_t points = 0;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const TimeRange& part = (*parts)[i];
    points += static_cast<std::uint64_t>((part.to - part.from) / Duration(15s)) + 1;
    EXPECT_LE((part.to - part.from) / Duration(15s) + 1, 11'000);
    if (i == 0) continue;
    EXPECT_EQ(part.from, (*parts)[i - 1].to + Duration(15s));
  }
  EXPECT_EQ(points, 40'321u);
  EXPECT_EQ(parts->front().from, week.from);
  EXPECT_EQ(parts->back().to, week.to);
  EXPECT_EQ(SplitRange({At(0), At(10'999)}, 1s)->size(), 1u);
  EXPECT_EQ(SplitRange({At(0), At(11'000)}, 1s)->size(), 2u);
}

TEST(Peak, ARangeThatIsNoneIsSaid) {
  EXPECT_THAT(MessageOf(SplitRange({At(5), At(5)}, 15s).status()), HasSubstr("before it begins"));
  EXPECT_THAT(MessageOf(SplitRange({At(0), At(5)}, 0s).status()), HasSubstr("some time"));
  EXPECT_THAT(MessageOf(SplitRange({At(0), At(1e8)}, 1s).status()),
              HasSubstr("at most 60 are made; take a shorter range"));
}

// Heavy: two calls of 4 s with a pause of 2 s between them; light: one of 1 s, no pause.
Corpus TwoTiers() {
  Corpus corpus;
  corpus.models = {"m"};
  Session heavy;
  heavy.tier = Tier::kHeavy;
  heavy.streams = {{}};
  heavy.calls = {{.tokens_in = 64, .tokens_out = 1, .service_ms = 4000},
                 {.ref = 0,
                  .kept_blocks = 1,
                  .tokens_in = 128,
                  .tokens_out = 1,
                  .delay_ms = 2000,
                  .service_ms = 4000}};
  Session light;
  light.tier = Tier::kLight;
  light.streams = {{}};
  light.calls = {{.tokens_in = 64, .tokens_out = 1, .service_ms = 1000}};
  corpus.sessions = {heavy, light};
  return corpus;
}

TEST(Peak, ASessionKeepsItsServiceOverItsTimelineInFlight) {
  RunPlan plan;
  plan.tiers = {{"heavy", Tier::kHeavy, 3}, {"light", Tier::kLight, 1}};
  MixInFlight mix = InFlightOf(plan, TwoTiers());
  EXPECT_DOUBLE_EQ(mix.mean, 1) << "without pauses a single stream always has a call in flight";

  plan.think_time = ThinkTime::kRecorded;
  mix = InFlightOf(plan, TwoTiers());
  ASSERT_EQ(mix.tiers.size(), 2u);
  EXPECT_DOUBLE_EQ(mix.tiers[0].mean, 0.8);
  EXPECT_DOUBLE_EQ(mix.tiers[0].share, 0.75);
  EXPECT_DOUBLE_EQ(mix.tiers[1].mean, 1);
  EXPECT_DOUBLE_EQ(mix.mean, 0.85);
  EXPECT_EQ(SessionsFor(17, mix), 20u);
  EXPECT_EQ(SessionsFor(17.1, mix), 21u);

  plan.think_time_cap = 500ms;
  EXPECT_DOUBLE_EQ(InFlightOf(plan, TwoTiers()).tiers[0].mean, 8 / 8.5);
}

TEST(Peak, SubagentsKeepMoreThanOneRequestInFlight) {
  Corpus corpus = TwoTiers();
  Session& heavy = corpus.sessions[0];
  heavy.streams.push_back({.parent_call = 0});
  heavy.calls.push_back({.stream = 1, .tokens_in = 64, .tokens_out = 1, .service_ms = 4000});
  RunPlan plan;
  plan.tiers = {{"heavy", Tier::kHeavy, 1}};
  EXPECT_DOUBLE_EQ(InFlightOf(plan, corpus).mean, 1.5);
}

// What check prints of a step is what peak compares traffic with.
TEST(Peak, TheDryPlanKeepsAsManyInFlight) {
  Corpus corpus = TwoTiers();
  corpus.models = {"m"};
  corpus.sessions[0].streams.push_back({.parent_call = 0});
  corpus.sessions[0].calls.push_back(
      {.stream = 1, .tokens_in = 64, .tokens_out = 1, .service_ms = 4000});
  Scenario scenario;
  scenario.name = "s";
  scenario.mix = {{"heavy", Tier::kHeavy, 3}, {"light", Tier::kLight, 1}};
  scenario.tier_ladders = {{"heavy", Tier::kHeavy, 1}};
  scenario.sweep.sessions = {8};
  scenario.fleet.local = 1;
  for (const ThinkTime think_time : {ThinkTime::kNone, ThinkTime::kRecorded}) {
    scenario.replay.think_time = think_time;
    scenario.bar.limits = {{.metric = Metric::kErrors, .value = 0.02}};
    const auto plan = MakeRunPlan(scenario, corpus, {});
    ASSERT_TRUE(plan.ok()) << plan.status();
    const MixInFlight mix = InFlightOf(*plan, corpus);
    ASSERT_GT(mix.tiers[0].mean, 1);
    DryPlan dry = MakeDryPlan(scenario, *plan, corpus);
    ASSERT_EQ(dry.steps.size(), 2u);
    EXPECT_NEAR(dry.steps[0].in_flight, 8 * mix.mean, 1e-9);
    EXPECT_NEAR(dry.steps[1].in_flight, 8 * mix.tiers[0].mean, 1e-9) << "heavy alone";
    EXPECT_NEAR(dry.steps[0].in_flight_at_bar, 8 * mix.mean, 1e-9) << "no limit on speed";
    // A slow deployment has more of a session's time in flight, where it pauses at all.
    scenario.bar.limits.push_back({.metric = Metric::kTtft, .quantile = 0.9, .value = 60});
    dry = MakeDryPlan(scenario, *plan, corpus);
    EXPECT_NEAR(dry.steps[0].in_flight, 8 * mix.mean, 1e-9);
    if (think_time == ThinkTime::kRecorded) {
      EXPECT_GT(dry.steps[0].in_flight_at_bar, dry.steps[0].in_flight);
    }
  }
}

TEST(Peak, NoCallsOrNoRequestsAreNoSessions) {
  RunPlan plan;
  plan.tiers = {{"mid", Tier::kMid, 1}};
  const MixInFlight none = InFlightOf(plan, TwoTiers());
  EXPECT_EQ(none.mean, 0);
  EXPECT_EQ(SessionsFor(10, none), 0u);
  EXPECT_EQ(SessionsFor(0, {.tiers = {}, .mean = 1}), 0u);
  EXPECT_EQ(SessionsFor(std::nan(""), {.tiers = {}, .mean = 1}), 0u);
  EXPECT_EQ(InFlightOf({}, TwoTiers()).mean, 0);
}

}  // namespace
}  // namespace plimsoll
