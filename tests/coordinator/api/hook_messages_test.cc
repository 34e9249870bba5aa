#include "coordinator/api/hook_messages.h"

#include <gtest/gtest.h>

#include "plimsoll/v1/api.pb.h"

namespace plimsoll {
namespace {

TEST(HookMessages, KeepsEveryFieldAndItsAbsence) {
  HookOutcome hook{.phase = HookPhase::kPromote,
                   .attempt = 2,
                   .state = HookState::kCouldNotStart,
                   .started = WallTime(1'800'000'000s + 250ms),
                   .duration = 1500ms,
                   .output = "a\xff",
                   .output_cut_bytes = 7,
                   .note = "n\xff"};
  v1::Hook out;
  FillHook(hook, &out);
  EXPECT_EQ(out.phase(), "promote");
  EXPECT_EQ(out.attempt(), 2u);
  EXPECT_EQ(out.state(), "could not start");
  EXPECT_FALSE(out.has_exit_code());
  EXPECT_FALSE(out.has_signal());
  EXPECT_EQ(out.started_at().seconds(), 1'800'000'000);
  EXPECT_EQ(out.started_at().nanos(), 250'000'000);
  EXPECT_EQ(out.duration_s(), 1.5);
  EXPECT_EQ(out.output(), "a\xEF\xBF\xBD");
  EXPECT_EQ(out.output_cut_bytes(), 7u);
  EXPECT_EQ(out.note(), "n\xEF\xBF\xBD");
  hook.exit_code = 0;
  hook.signal = 15;
  FillHook(hook, &out);
  EXPECT_TRUE(out.has_exit_code());
  EXPECT_EQ(out.signal(), 15);
}

}  // namespace
}  // namespace plimsoll
