// The capacity as the API says it.
#include "coordinator/api/bar_messages.h"

#include "coordinator/api/api_messages.h"
#include "gtest/gtest.h"
#include "plimsoll/v1/api.pb.h"
#include "tests/coordinator/api/sample_runs.h"

namespace plimsoll {
namespace {

using testing::ARun;

TEST(BarMessages, ACapacityIsANumberWithAnIntervalAndPartsOfItsOwn) {
  RunView view{.info = ARun("r1", 1'800'000'000, RunState::kFinished)};
  v1::Run run;
  ToApi(view, &run);
  const v1::Capacity& capacity = run.summary().capacity();
  EXPECT_EQ(capacity.passed_sessions(), 10u);
  const v1::CapacityBand& band = capacity.band();
  EXPECT_EQ(band.value().kind(), v1::CAPACITY_END_KIND_AT);
  EXPECT_EQ(band.value().sessions(), 12.4);
  EXPECT_EQ(band.value().whole_sessions(), 12u);
  EXPECT_EQ(band.value().requests_in_flight_mean(), 9.6);
  EXPECT_TRUE(band.value().requests_in_flight_interpolated());
  EXPECT_FALSE(band.low_95().requests_in_flight_interpolated());
  EXPECT_EQ(band.high_95().kind(), v1::CAPACITY_END_KIND_AT_LEAST);
  EXPECT_FALSE(band.high_95().has_requests_in_flight_mean());
  EXPECT_EQ(capacity.limiting_part(), 1u);
  ASSERT_EQ(capacity.parts_size(), 2);
  EXPECT_EQ(capacity.parts(0).limit().key(), "errors");
  EXPECT_FALSE(capacity.parts(0).has_band());
  EXPECT_EQ(capacity.parts(1).band().value().sessions(), 12.4);
  // Stored by an earlier version: without the number.
  view.info.capacity = Capacity{.passed = 10, .sentence = "10 sessions hold"};
  v1::Run old;
  ToApi(view, &old);
  EXPECT_FALSE(old.summary().capacity().has_band());
  EXPECT_FALSE(old.summary().capacity().has_limiting_part());
}

TEST(BarMessages, ALadderSaysRequestsInFlightBesideSessionsOrNothing) {
  v1::TierLadder ladder;
  FillBracket({.passed = BracketEnd{20, 19.4}, .failed = BracketEnd{30, {}}, .sentence = "s\xff"},
              &ladder);
  EXPECT_EQ(ladder.last_passed().sessions(), 20u);
  EXPECT_EQ(ladder.last_passed().requests_in_flight_mean(), 19.4);
  EXPECT_EQ(ladder.first_failed().sessions(), 30u);
  EXPECT_FALSE(ladder.first_failed().has_requests_in_flight_mean()) << "not known is never 0";
  EXPECT_EQ(ladder.sentence(), "s\xEF\xBF\xBD");
  v1::TierLadder undecided;
  FillBracket({.sentence = "no step was decided"}, &undecided);
  EXPECT_FALSE(undecided.has_last_passed());
  EXPECT_FALSE(undecided.has_first_failed());
}

}  // namespace
}  // namespace plimsoll
