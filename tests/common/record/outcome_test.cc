#include "common/record/outcome.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace plimsoll {
namespace {

TEST(Outcome, EveryOutcomeHasANameOfItsOwn) {
  std::set<std::string> names;
  for (unsigned i = 0; i < kOutcomes; ++i) {
    if (IsOutcome(i)) names.emplace(Name(static_cast<Outcome>(i)));
  }
  EXPECT_EQ(names.size(), kOutcomes - 1);
  EXPECT_FALSE(names.contains("unknown"));
  EXPECT_EQ(Name(Outcome::kContextOverflow), "context_overflow");
}

TEST(Outcome, NumbersOutsideTheListAreNoOutcome) {
  EXPECT_FALSE(IsOutcome(0));
  EXPECT_FALSE(IsOutcome(kOutcomes));
  EXPECT_FALSE(IsOutcome(255));
  EXPECT_EQ(Name(static_cast<Outcome>(0)), "unknown");
}

TEST(Outcome, OurOwnFaultIsNoFailureOfTheServer) {
  EXPECT_FALSE(IsFailure(Outcome::kOk));
  EXPECT_FALSE(IsFailure(Outcome::kClientError));
  EXPECT_TRUE(IsFailure(Outcome::kCut));
}

TEST(Outcome, PrintsItsName) {
  EXPECT_EQ(testing::PrintToString(Outcome::kRefused), "refused");
}

}  // namespace
}  // namespace plimsoll
