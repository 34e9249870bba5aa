#include "coordinator/planning/hook_times.h"

#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(HookTimes, EveryTryAndWhatComesBetweenCounts) {
  EXPECT_EQ(LongestTime({.argv = {"a"}, .deadline = 5min, .tries = 1}), 5min + 10s);
  // Pauses of 1, 2, 4, 8, 16, 30 and 30 s.
  EXPECT_EQ(LongestTime({.argv = {"a"}, .deadline = 1min, .tries = 8}), 8 * 70s + 91s);
}

TEST(HookTimes, APromotionThatNobodyAskedForHasNone) {
  const RunHooks hooks = {.rollout = {.argv = {"a"}}, .promote = {.argv = {"b"}}, .rollback = {}};
  EXPECT_EQ(TimesOf(hooks, false).promote, std::nullopt);
  EXPECT_EQ(TimesOf(hooks, true).promote, LongestTime(hooks.promote));
  EXPECT_EQ(TimesOf(hooks, true).rollout, LongestTime(hooks.rollout));
  EXPECT_EQ(TimesOf(hooks, true).rollback, std::nullopt);
}

}  // namespace
}  // namespace plimsoll
