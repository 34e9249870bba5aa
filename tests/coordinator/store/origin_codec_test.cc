// How a step came about, stored and read back; what no step can have is damage.
#include <gtest/gtest.h>

#include "coordinator/store/run_codec.h"

namespace plimsoll {
namespace {

TEST(OriginCodec, AStepKeepsItsOrigin) {
  for (const StepKind kind :
       {StepKind::kPlanned, StepKind::kExtension, StepKind::kRepeat, StepKind::kRefinement}) {
    StepRow row;
    row.summary.origin = {.kind = kind,
                          .ladder = "light",
                          .reason = "too close",
                          .failed_early_after = 3,
                          .measured = 182s};
    const StatusOr<StepRow> back = DecodeStep(EncodeStep(row));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->summary.origin, row.summary.origin);
  }
}

TEST(OriginCodec, AnOriginThatNoStepHasIsDamaged) {
  for (void (*damage)(StepOrigin&) :
       {+[](StepOrigin& o) { o.kind = static_cast<StepKind>(0); },
        +[](StepOrigin& o) { o.kind = static_cast<StepKind>(9); },
        +[](StepOrigin& o) { o.ladder.clear(); }, +[](StepOrigin& o) { o.measured = -1ns; }}) {
    StepRow row;
    damage(row.summary.origin);
    EXPECT_EQ(DecodeStep(EncodeStep(row)).status().code(), absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace plimsoll
