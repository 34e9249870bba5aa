// Suspicions of a stored step.
#include "coordinator/store/suspicion_codec.h"

#include "coordinator/store/run_codec.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

StepRow Suspected() {
  StepRow row;
  row.summary.verdict.verdict = Verdict::kPass;
  for (int i = 1; i <= kSuspicionChecks; ++i) {
    row.summary.suspicions.push_back({static_cast<SuspicionCheck>(i), "seen \xff"});
  }
  return row;
}

TEST(SuspicionCodec, EveryKindComesBack) {
  const StepRow row = Suspected();
  const auto back = DecodeStep(EncodeStep(row));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->summary.suspicions, row.summary.suspicions);
  EXPECT_TRUE(DecodeStep(EncodeStep({}))->summary.suspicions.empty());
}

TEST(SuspicionCodec, AnUnknownKindIsDamaged) {
  for (const int check : {0, kSuspicionChecks + 1, 255}) {
    StepRow row = Suspected();
    row.summary.suspicions[3].check = static_cast<SuspicionCheck>(check);
    EXPECT_EQ(DecodeStep(EncodeStep(row)).status().code(), absl::StatusCode::kDataLoss) << check;
  }
}

}  // namespace
}  // namespace plimsoll
