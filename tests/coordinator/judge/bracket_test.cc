// What a ladder on one tier came to: in words, and as numbers that are absent where not known.
#include "coordinator/judge/bracket.h"

#include <limits>

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

StepResult Step(std::uint32_t sessions, Verdict verdict, double in_flight) {
  StepResult step{.sessions = sessions, .requests_in_flight = in_flight};
  step.verdict.verdict = verdict;
  step.verdict.parts = {{.limit = {.metric = Metric::kTtft}, .verdict = verdict}};
  return step;
}

TEST(Bracket, SaysRequestsInFlightBesideSessions) {
  const StepResult five = Step(5, Verdict::kPass, 4.9);
  const StepResult ten = Step(10, Verdict::kPass, 9.7);
  const StepResult miss = Step(15, Verdict::kFail, 14.55);
  const Bracket both = BracketOf({five, ten, miss});
  EXPECT_EQ(both.sentence,
            "10 sessions passed last (9.7 requests in flight), 15 failed first (14.6): TTFT");
  EXPECT_EQ(both.passed, (BracketEnd{10, 9.7}));
  EXPECT_EQ(both.failed, (BracketEnd{15, 14.55}));

  const Bracket held = BracketOf({five, ten});
  EXPECT_EQ(held.sentence, "10 sessions passed last (9.7 requests in flight), none failed");
  EXPECT_FALSE(held.failed.has_value());

  const Bracket missed = BracketOf({miss});
  EXPECT_EQ(missed.sentence, "the first step, 15 sessions, failed (14.6 requests in flight): TTFT");
  EXPECT_FALSE(missed.passed.has_value());
  EXPECT_EQ(BracketOf({Step(5, Verdict::kTooClose, 4.9), miss}).sentence,
            "15 sessions failed first (14.6 requests in flight), none below passed: TTFT");
}

TEST(Bracket, WhatIsNotKnownIsNeverZero) {
  EXPECT_EQ(BracketOf({}), (Bracket{.sentence = "no step was decided"}));
  EXPECT_EQ(BracketOf({Step(5, Verdict::kNoData, 3)}),
            (Bracket{.sentence = "no step was decided"}));
  for (const double unknown : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()}) {
    const Bracket bracket =
        BracketOf({Step(10, Verdict::kPass, unknown), Step(15, Verdict::kFail, 14.55)});
    EXPECT_FALSE(bracket.passed->requests_in_flight.has_value()) << unknown;
    EXPECT_EQ(bracket.sentence,
              "10 sessions passed last, 15 failed first (14.6 requests in flight): TTFT");
  }
}

}  // namespace
}  // namespace plimsoll
