// Stored evals that no step has are damaged, and say so.
#include "coordinator/store/eval_codec.h"

#include <functional>
#include <limits>

#include "gtest/gtest.h"
#include "plimsoll/v1/results.pb.h"
#include "tests/coordinator/store/stored_samples.h"

namespace plimsoll {
namespace {

TEST(EvalCodec, RefusesWhatCannotBe) {
  v1::StoredEvals good;
  WriteEvals(testing::SomeEvals(), &good);
  ASSERT_TRUE(ReadEvals(good).ok());
  EXPECT_EQ(*ReadEvals(good), testing::SomeEvals());
  using E = v1::StoredEvals;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::function<void(E*)> spoils[] = {
      [](E* e) { e->clear_verdict(); },
      [](E* e) { e->set_verdict(static_cast<v1::StoredVerdict>(5)); },
      [](E* e) { e->set_lean(static_cast<v1::StoredLean>(3)); },
      [](E* e) { e->add_loaded(1); },
      [](E* e) { e->set_loaded(0, 1); },
      [](E* e) { e->add_unloaded(1); },
      [](E* e) { e->set_rate_low(0.9); },
      [](E* e) { e->set_rate_high(1.5); },
      [=](E* e) { e->set_rate_low(nan); },
      [](E* e) { e->clear_change_low(); },
      [](E* e) { e->set_change_low(-1.5); },
      [](E* e) { e->set_change_high(-0.75); },
      [](E* e) { e->set_design_effect(0.5); },
      [=](E* e) { e->set_design_effect(nan); },
      [](E* e) { e->add_tool_faults(1); },
      [](E* e) { e->set_tool_faults(0, 1); },
      [](E* e) { e->add_tool_faults_unloaded(1); },
      [](E* e) { e->mutable_kinds(0)->add_loaded(1); },
      [](E* e) {
        while (e->kinds_size() <= 64) e->add_kinds();
      }};
  int n = 0;
  for (const auto& spoil : spoils) {
    E bad = good;
    spoil(&bad);
    EXPECT_EQ(ReadEvals(bad).status().code(), absl::StatusCode::kDataLoss) << "spoil " << n;
    ++n;
  }
}

TEST(EvalCodec, ABarThatAsksNothingIsNotWrittenAndNoSharesAreDamaged) {
  v1::StoredRun run;
  WriteEvalBar({}, &run);
  EXPECT_FALSE(run.has_eval_bar());
  EXPECT_EQ(*ReadEvalBar(run), EvalBar{});
  run.mutable_eval_bar()->set_pass_rate(1.5);
  EXPECT_FALSE(ReadEvalBar(run).ok());
  run.mutable_eval_bar()->set_pass_rate(0.5);
  run.mutable_eval_bar()->set_drop(-0.1);
  EXPECT_FALSE(ReadEvalBar(run).ok());
  run.mutable_eval_bar()->set_drop(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(ReadEvalBar(run).ok());
}

TEST(EvalCodec, FaultsOfMoreKindsThanAreKnownAreDamaged) {
  v1::StoredFidelity fidelity;
  WriteFaults({}, &fidelity);
  EXPECT_EQ(fidelity.tool_faults_size(), 0);
  for (std::size_t i = 0; i <= kToolFaults; ++i) fidelity.add_tool_faults(i);
  EXPECT_FALSE(ReadFaults(fidelity).ok());
}

}  // namespace
}  // namespace plimsoll
