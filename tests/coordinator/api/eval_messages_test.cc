// Evals and faults of tool calls as the API gives them.
#include "coordinator/api/eval_messages.h"

#include "gtest/gtest.h"
#include "plimsoll/v1/api.pb.h"
#include "tests/coordinator/report/sample_model.h"

namespace plimsoll {
namespace {

TEST(EvalMessages, HoldEveryCountAndLeaveOutWhatIsNotKnown) {
  v1::Evals evals;
  FillEvals(testing::SampleEvals(), &evals);
  EXPECT_EQ(evals.verdict(), v1::VERDICT_TOO_CLOSE);
  EXPECT_EQ(evals.lean(), v1::LEAN_FAIL);
  EXPECT_EQ(evals.loaded().asked(), 48u);
  EXPECT_EQ(evals.loaded().n(), 44u);
  EXPECT_EQ(evals.loaded().passed(), 37u);
  ASSERT_EQ(evals.loaded().outcomes_size(), 6) << "those that came";
  EXPECT_EQ(evals.loaded().outcomes(1).outcome(), "wrong");
  EXPECT_EQ(evals.unloaded().n(), 72u);
  EXPECT_DOUBLE_EQ(evals.pass_share().value(), 37.0 / 44);
  EXPECT_DOUBLE_EQ(evals.pass_share().low_95(), 0.699);
  EXPECT_DOUBLE_EQ(evals.change().value(), 37.0 / 44 - 71.0 / 72);
  EXPECT_DOUBLE_EQ(evals.change().low_95(), -0.28);
  ASSERT_EQ(evals.tool_call_faults_size(), 2);
  EXPECT_EQ(evals.tool_call_faults(1).fault(), "blank_required");
  ASSERT_EQ(evals.kinds_size(), 2);
  EXPECT_EQ(evals.kinds(1).kind(), "tool-single");
  EXPECT_EQ(evals.kinds(1).loaded().passed(), 15u);

  v1::Evals none;
  FillEvals(EvalSummary{.reason = "none was asked"}, &none);
  EXPECT_EQ(none.verdict(), v1::VERDICT_NO_DATA);
  EXPECT_FALSE(none.has_pass_share());
  EXPECT_FALSE(none.has_change());
  EXPECT_EQ(none.loaded().outcomes_size(), 0);
}

TEST(EvalMessages, TheBarAndTheLoadsFaults) {
  v1::EvalBar bar;
  FillEvalBar({.pass_rate = 0.9, .drop = std::nullopt}, &bar);
  EXPECT_EQ(bar.pass_share(), 0.9);
  EXPECT_FALSE(bar.has_drop_share());
  v1::Fidelity fidelity;
  FillFaults({{0, 0, 4, 0, 0, 0, 0, 0, 1}}, &fidelity);
  ASSERT_EQ(fidelity.tool_call_faults_size(), 2);
  EXPECT_EQ(fidelity.tool_call_faults(0).fault(), "missing_name");
  EXPECT_EQ(fidelity.tool_call_faults(0).answers(), 4u);
}

}  // namespace
}  // namespace plimsoll
