// The capacity of short histories: value, interval, limiting part and words; what verdicts bound,
// and what must hold of any history.
#include "coordinator/judge/capacity.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "coordinator/judge/capacity_words.h"
#include "coordinator/judge/proportion.h"

namespace plimsoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = CapacityEnd::Kind;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// A share with the edges of its 95% band.
struct Band {
  double share = 0;
  double low = 0;
  double high = 1;
};
constexpr Band kAllWithin = {1, 0.98, 1};
constexpr Band kNoErrors = {0, 0, 0.01};
constexpr Band kNoData = {kNan, 0, 1};

PartVerdict Part(const Limit& limit, const Band& band) {
  PartVerdict part{.limit = limit, .reason = "r"};
  if (band.share != band.share) return part;
  part.n = 400;
  part.share_within = band.share;
  part.share_low = band.low;
  part.share_high = band.high;
  const bool bad = IsBadShare(limit.metric);
  const Side good = bad ? Side::kBelow : Side::kAbove;
  const SideOf side = Compare({.n = 400, .share = band.share, .low = band.low, .high = band.high},
                              bad ? limit.value : limit.quantile, good);
  part.lean = side.lean;
  part.verdict = side.side == Side::kCrosses ? Verdict::kTooClose
                 : side.side == good         ? Verdict::kPass
                                             : Verdict::kFail;
  return part;
}

// Any fail, else any no data, else any too close, else pass: as judge_step combines them.
StepResult Combined(std::uint32_t sessions, std::vector<PartVerdict> parts) {
  StepResult step{.sessions = sessions, .requests_in_flight = 0.8 * sessions};
  step.verdict.verdict = Verdict::kPass;
  for (const Verdict verdict : {Verdict::kTooClose, Verdict::kNoData, Verdict::kFail}) {
    for (const PartVerdict& part : parts) {
      if (part.verdict == verdict) step.verdict.verdict = verdict;
    }
  }
  step.verdict.parts = std::move(parts);
  return step;
}

const Limit kTtft = {.metric = Metric::kTtft, .quantile = 0.9, .value = 5.3};
const Limit kErrors = {.metric = Metric::kErrors, .value = 0.02};

StepResult Step(std::uint32_t sessions, const Band& ttft, const Band& errors = kNoErrors) {
  return Combined(sessions, {Part(kTtft, ttft), Part(kErrors, errors)});
}
StepResult Pass(std::uint32_t n) {
  return Step(n, kAllWithin);
}
StepResult Fail(std::uint32_t n) {
  return Step(n, {0.8, 0.75, 0.85});
}
StepResult LeanPass(std::uint32_t n) {
  return Step(n, {0.92, 0.86, 0.97});
}
StepResult LeanFail(std::uint32_t n) {
  return Step(n, {0.88, 0.8, 0.93});
}
StepResult None(std::uint32_t n) {
  return Step(n, kNoData, kNoData);
}

// "12.50 [10.50-14.00]", "<5" and ">=20" where it is open.
std::string Text(const CapacityEnd& end) {
  char text[32];
  std::snprintf(text, sizeof text, end.open() ? "%g" : "%.2f", end.sessions);
  return std::string(end.kind == Kind::kBelow     ? "<"
                     : end.kind == Kind::kAtLeast ? ">="
                                                  : "") +
         text;
}
std::string Text(const std::optional<CapacityBand>& band) {
  if (!band) return "none";
  return Text(band->value) + " [" + Text(band->low) + "-" + Text(band->high) + "]";
}
std::string TextOf(const SweepHistory& history) {
  return Text(CapacityOf(history).band);
}

TEST(Capacity, IsInterpolatedWithItsBand) {
  const Capacity capacity =
      CapacityOf({Step(10, {0.95, 0.91, 0.98}), Step(15, {0.85, 0.81, 0.89})});
  EXPECT_EQ(Text(capacity.band), "12.50 [10.50-14.44]");
  EXPECT_EQ(capacity.passed, 10u);
  EXPECT_EQ(capacity.failed, 15u);
  EXPECT_EQ(capacity.limited_by, Metric::kTtft);
  EXPECT_EQ(capacity.limiting_part, 0u);
  EXPECT_DOUBLE_EQ(capacity.requests_in_flight, 8);
  EXPECT_DOUBLE_EQ(*capacity.band->value.requests_in_flight, 9.6);  // Of 12, not of 12.5.
  EXPECT_TRUE(capacity.band->value.interpolated);
  EXPECT_DOUBLE_EQ(*capacity.band->low.requests_in_flight, 8);
  EXPECT_FALSE(capacity.band->low.interpolated);  // 10 sessions were run.
  EXPECT_EQ(capacity.sentence,
            "12.5 → 12 sessions [10–14] (9.6 requests in flight [8.0–11.2], interpolated), limited "
            "by TTFT; 10 held, 15 did not: TTFT");
  EXPECT_EQ(PartsSentence(capacity),
            "TTFT 12.5 [10–14] (9.6 requests in flight) · errors >= 15 (12.0 requests in flight)");
  EXPECT_EQ(CapacityNumber(capacity),
            "12.5 → 12 sessions [10–14] (9.6 requests in flight [8.0–11.2], interpolated)");
  EXPECT_EQ(WholeSessions(*capacity.band), "12 [10–14]");
}

TEST(Capacity, SaysNoMoreThanWasMeasured) {
  const struct {
    SweepHistory history;
    const char* band;
    const char* sentence;
  } rows[] = {
      {{}, "none", "no capacity: no step was decided"},
      {{Pass(5), Pass(10), Pass(20)},
       ">=20 [>=20->=20]",
       ">= 20 sessions (16.0 requests in flight), ceiling not found"},
      {{Fail(5)},
       "<5 [<5-<5]",
       "< 5 sessions (4.0 requests in flight): the first step already misses: TTFT"},
      {{None(5), None(5)}, "none", "no capacity: no step was decided; 5 has no data"},
      {{None(5), None(5), Fail(10)},
       "<10 [<10-<10]",
       "< 10 sessions (8.0 requests in flight): TTFT; no step below was found to hold; 5 has no "
       "data"},
      {{None(5), Pass(5), Fail(10)},
       "7.50 [6.74-8.33]",
       "7.5 → 7 sessions [6–8] (5.6 requests in flight [4.8–6.4], interpolated), limited by TTFT; "
       "5 held, 10 did not: TTFT"},
      {{Pass(5), None(5), None(10), None(10)},
       ">=5 [>=5->=5]",
       ">= 5 sessions (4.0 requests in flight), ceiling not found; 10 has no data"},
      {{LeanPass(5)},
       ">=5 [<5->=5]",
       "no capacity: no step was decided; 5 is too close to call, leaning pass"},
      {{LeanFail(5)},
       "<5 [<5->=5]",
       "no capacity: no step was decided; 5 is too close to call, leaning fail"},
      {{LeanPass(5), LeanFail(10)},
       "7.50 [<5->=10]",
       "7.5 → 7 sessions [open–open] (5.6 requests in flight [open–open], interpolated), limited "
       "by TTFT, lower end open: the sweep began at 5, upper end open: the sweep stopped at 10; 5 "
       "is too close to call, leaning pass; 10 is too close to call, leaning fail"},
      {{Pass(5), LeanPass(10)},
       ">=10 [8.33->=10]",
       "10 sessions or more [8–open] (8.0 requests in flight [6.4–open]), upper end open: the "
       "sweep stopped at 10; 5 held; 10 is too close to call, leaning pass"},
      {{Pass(5), LeanFail(10)},
       "9.17 [7.22->=10]",
       "9.1 → 9 sessions [7–open] (7.2 requests in flight [5.6–open], interpolated), limited by "
       "TTFT, upper end open: the sweep stopped at 10; 5 held; 10 is too close to call, leaning "
       "fail"},
      {{LeanFail(5), Fail(10)},
       "<5 [<5-6.88]",
       "under 5 sessions [open–6] (4.0 requests in flight [open–4.8]), limited by TTFT, lower end "
       "open: the sweep began at 5; 10 did not hold: TTFT; 5 is too close to call, leaning fail"},
  };
  for (const auto& row : rows) {
    const Capacity capacity = CapacityOf(row.history);
    EXPECT_EQ(Text(capacity.band), row.band) << row.sentence;
    EXPECT_EQ(capacity.sentence, row.sentence);
  }
}

TEST(Capacity, SaysWhatStoppedTheSweep) {
  EXPECT_EQ(CapacityOf({Pass(5), Pass(10)}, "KV cache").sentence,
            ">= 10 sessions (8.0 requests in flight), stopped by KV cache");
  EXPECT_THAT(CapacityOf({Pass(5), LeanPass(10)}, "KV cache").sentence,
              HasSubstr("upper end open: stopped by KV cache at 10"));
  // A sweep that found its ceiling was not kept from it.
  EXPECT_THAT(CapacityOf({Pass(5), Fail(10)}, "KV cache").sentence, Not(HasSubstr("KV cache")));
}

TEST(Capacity, BelowTheFirstStepAboveTheLastOrJustAtOne) {
  // The share is just what is asked for at 10: the crossing is there, not a session below.
  const Capacity at =
      CapacityOf({Pass(5), Step(10, {0.9, 0.85, 0.94}), Step(15, {0.8, 0.75, 0.85})});
  EXPECT_EQ(Text(at.band), "10.00 [8.08-12.22]");
  EXPECT_THAT(at.sentence, HasSubstr("10 sessions [8–12] (8.0 requests in flight [6.4–9.6]), "));
  EXPECT_FALSE(at.band->value.interpolated);
  // The same at the ends of the sweep.
  EXPECT_EQ(TextOf({Step(10, {0.9, 0.85, 0.94}), Fail(15)}), "10.00 [<10-12.22]");
  EXPECT_EQ(TextOf({Pass(5), Step(10, {0.9, 0.85, 0.94})}), ">=10 [8.08->=10]");
  EXPECT_EQ(TextOf({Fail(5), Fail(10)}), "<5 [<5-<5]");
  EXPECT_EQ(TextOf({Pass(5), Pass(10)}), ">=10 [>=10->=10]");
  // An edge that just reaches what is asked for is too close to call.
  EXPECT_EQ(TextOf({Pass(5), Step(10, {0.95, 0.9, 0.98}), Fail(15)}), "11.67 [10.00-13.08]");
}

TEST(Capacity, IsThatOfThePartThatIsCrossedFirst) {
  // TTFT crosses at 12.5, errors at 12 with a wide band: each end is the smallest of its own.
  const Capacity capacity = CapacityOf({Step(10, {0.95, 0.91, 0.98}, {0.012, 0.004, 0.019}),
                                        Step(15, {0.85, 0.81, 0.89}, {0.032, 0.012, 0.06})});
  EXPECT_EQ(Text(capacity.parts[0].band), "12.50 [10.50-14.44]");
  EXPECT_EQ(Text(capacity.parts[1].band), "12.00 [10.12->=15]");
  EXPECT_EQ(Text(capacity.band), "12.00 [10.12-14.44]");
  EXPECT_EQ(capacity.limited_by, Metric::kErrors);
  EXPECT_EQ(capacity.limiting_part, 1u);
  EXPECT_EQ(
      PartsSentence(capacity),
      "TTFT 12.5 [10–14] (9.6 requests in flight) · errors 12 [10–open] (9.6 requests in flight)");
}

TEST(Capacity, TellsSeveralLimitsOfOneMetricApart) {
  Limit tail = kTtft;
  tail.quantile = 0.99;
  const auto step = [&](std::uint32_t n, const Band& p90, const Band& p99) {
    return Combined(n, {Part(kTtft, p90), Part(tail, p99)});
  };
  const Capacity capacity = CapacityOf(
      {step(10, kAllWithin, {1, 0.995, 1}), step(20, {0.95, 0.92, 0.97}, {0.97, 0.95, 0.985})});
  EXPECT_EQ(capacity.limiting_part, 1u);
  EXPECT_THAT(capacity.sentence, HasSubstr("limited by TTFT P99"));
  EXPECT_THAT(PartsSentence(capacity),
              HasSubstr("TTFT P90 >= 20 (16.0 requests in flight) · TTFT P99 13.3 [11–16] (10.4 "
                        "requests in flight)"));
}

TEST(Capacity, APartThatWasNotJudgedAnyMoreBoundsTheLowEnd) {
  // At 15 the gateway refused: errors fail, TTFT says nothing above 10.
  const Capacity capacity = CapacityOf({Pass(10), Step(15, kNoData, {0.3, 0.25, 0.35})});
  EXPECT_EQ(Text(capacity.parts[0].band), ">=10 [>=10->=10]");
  EXPECT_EQ(Text(capacity.parts[1].band), "10.33 [10.15-10.40]");
  EXPECT_EQ(Text(capacity.band), "10.33 [10.00-10.40]");
  EXPECT_EQ(capacity.limited_by, Metric::kErrors);
  // A part that no step could judge has none.
  const Capacity blind = CapacityOf({Step(5, kNoData, {0.3, 0.25, 0.35})});
  EXPECT_FALSE(blind.parts[0].band.has_value());
  EXPECT_EQ(Text(blind.band), "<5 [<5-<5]");
  EXPECT_EQ(PartsSentence(blind), "TTFT no data · errors < 5 (4.0 requests in flight)");
}

TEST(Capacity, VoidStepsSayNothing) {
  StepResult lost = Fail(15);
  lost.verdict.is_void = true;
  lost.verdict.verdict = Verdict::kNoData;
  EXPECT_EQ(TextOf({Pass(10), lost}), ">=10 [>=10->=10]");
  // What came last counts, unless it has no data.
  EXPECT_EQ(TextOf({Pass(10), LeanPass(15), Fail(15)}), TextOf({Pass(10), Fail(15)}));
  EXPECT_EQ(TextOf({Pass(10), Fail(15), None(15)}), TextOf({Pass(10), Fail(15)}));
}

TEST(Capacity, TheFitNeverOverridesAVerdict) {
  // 8 looked bad, 10 passed: the fit through both would begin to miss under 8, but 10 holds.
  const Band bad_luck = {0.84, 0.7, 0.92};
  EXPECT_EQ(TextOf({Pass(5), Step(8, bad_luck), Step(10, {0.93, 0.901, 0.96}),
                    Step(15, {0.8, 0.75, 0.85})}),
            "10.00 [10.00-12.22]");
  // The last step passed: nothing below it can take that back, and above it nothing is known.
  EXPECT_EQ(TextOf({Step(8, bad_luck), Step(10, {0.93, 0.901, 0.96})}), ">=10 [>=10->=10]");
  // The first failed, though a close one above lifts the fit; of 8.00 whole sessions are 7.
  EXPECT_EQ(TextOf({Step(8, {0.87, 0.84, 0.899}), Step(10, {0.95, 0.88, 0.99})}), "<8 [<8-<8]");
  EXPECT_EQ(TextOf({Pass(5), Step(8, {0.87, 0.84, 0.899}), Step(10, {0.95, 0.88, 0.99})}),
            "8.00 [7.00-8.00]");
}

TEST(Capacity, VerdictsThatContradictEachOtherBothStand) {
  const Capacity capacity = CapacityOf({Pass(5), Fail(10), Pass(15), Fail(20)});
  EXPECT_LT(capacity.band->low.sessions, 10);
  EXPECT_GE(capacity.band->low.sessions, 5);
  EXPECT_GE(capacity.band->high.sessions, 15);
  EXPECT_LT(capacity.band->high.sessions, 20);
  EXPECT_EQ(capacity.passed, 5u);
  EXPECT_EQ(capacity.failed, 10u);
  EXPECT_THAT(capacity.sentence,
              HasSubstr("5 held, 10 did not: TTFT; 15 passed although 10 missed"));
}

TEST(Capacity, ALimitWithAnIntervalOfItsOwnWidensTheBand) {
  Limit derived = kErrors;
  derived.origin = LimitOrigin{.runs = {"a", "b"}, .baseline = 0.02, .low = 0.01, .high = 0.04};
  const Capacity capacity = CapacityOf({Combined(10, {Part(derived, {0.01, 0.005, 0.015})}),
                                        Combined(20, {Part(derived, {0.05, 0.045, 0.055})})});
  EXPECT_EQ(Text(capacity.band->value), "12.50");
  EXPECT_EQ(Text(capacity.band->high), "18.75");  // 0.005 to 0.045 crosses 0.04.
}

TEST(Capacity, NumbersThatAreNoneLeaveTheVerdicts) {
  StepResult pass = Pass(10);
  StepResult fail = Fail(15);
  for (StepResult* step : {&pass, &fail}) {
    for (PartVerdict& part : step->verdict.parts) part.share_low = kNan;
    step->requests_in_flight = kNan;
  }
  const Capacity capacity = CapacityOf({pass, fail});
  EXPECT_EQ(Text(capacity.band), "10.00 [10.00-15.00]");
  EXPECT_EQ(capacity.band->high.whole(), 14u);
  EXPECT_FALSE(capacity.band->value.requests_in_flight.has_value());
  EXPECT_EQ(capacity.limiting_part, 0u);
  // Steps with other parts than the first's, as a damaged store may hold them.
  fail.verdict.parts.clear();
  EXPECT_EQ(CapacityOf({pass, fail, Pass(20)}).parts.size(), 2u);
}

TEST(DecidedSteps, TakesTheLastWithDataOfEachNumberOfSessions) {
  const auto steps = DecidedSteps({LeanPass(10), Pass(5), Fail(10), None(10), None(7)});
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].sessions, 5u);
  EXPECT_EQ(steps[1].verdict.verdict, Verdict::kNoData);
  EXPECT_EQ(steps[2].verdict.verdict, Verdict::kFail);
}

// Whatever was measured: low <= value <= high, each within the steps that have data, and the
// verdicts' bounds of the header.
void ExpectLawful(const SweepHistory& history) {
  const Capacity capacity = CapacityOf(history);
  std::vector<StepResult> steps;
  for (const StepResult& step : DecidedSteps(history)) {
    if (step.verdict.verdict != Verdict::kNoData) steps.push_back(step);
  }
  ASSERT_EQ(capacity.band.has_value(), !steps.empty());
  ASSERT_FALSE(capacity.sentence.empty());
  if (steps.empty()) return;
  const CapacityBand& band = *capacity.band;
  SCOPED_TRACE(Text(capacity.band));
  ASSERT_FALSE(Less(band.value, band.low));
  ASSERT_FALSE(Less(band.high, band.value));
  ASSERT_GE(band.low.sessions, steps.front().sessions);
  ASSERT_LE(band.high.sessions, steps.back().sessions);
  ASSERT_NE(band.low.open() && band.low.kind == Kind::kBelow, capacity.passed.has_value());
  const bool contradicts = std::any_of(steps.begin(), steps.end(), [&](const StepResult& step) {
    return capacity.failed && step.sessions > *capacity.failed && step.verdict.holds();
  });
  for (const StepResult& step : steps) {
    if (step.verdict.holds() && !contradicts) {
      ASSERT_FALSE(Less(band.low, {.sessions = static_cast<double>(step.sessions)}));
    }
    if (step.verdict.holds()) {
      ASSERT_GE(band.high.sessions, step.sessions);
      ASSERT_NE(band.high.kind, Kind::kBelow);
    }
    if (step.verdict.verdict != Verdict::kFail) continue;
    ASSERT_TRUE(band.low.kind == Kind::kBelow || band.low.sessions < step.sessions);
    if (contradicts) continue;
    ASSERT_TRUE(band.high.kind == Kind::kBelow || band.high.sessions < step.sessions);
    ASSERT_NE(band.high.kind, Kind::kAtLeast);
    ASSERT_TRUE(capacity.limiting_part.has_value());
  }
}

TEST(Capacity, IsLawfulWhateverWasMeasured) {
  constexpr std::uint64_t kSeed = 7'411;
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed);
  for (int run = 0; run < 5'000; ++run) {
    SCOPED_TRACE(run);
    SweepHistory history;
    const std::uint64_t steps = rng.Below(6);
    for (std::uint64_t i = 0; i < steps; ++i) {
      const auto band = [&](double around, double spread) -> Band {
        if (rng.Chance(0.05)) return kNoData;
        const double share = std::clamp(around + spread * rng.Normal(), 0.0, 1.0);
        return {share, share * (1 - 0.1 * rng.Uniform()),
                share + (1 - share) * rng.Uniform() * 0.5};
      };
      history.push_back(Step(5 * static_cast<std::uint32_t>(1 + rng.Below(6)), band(0.9, 0.06),
                             band(0.01, 0.02)));
    }
    ExpectLawful(history);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace plimsoll
