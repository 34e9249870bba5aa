// Where a stored limit comes from: what no run could have written is damage.
#include <cmath>
#include <limits>

#include "coordinator/store/run_codec.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

TEST(LimitCodec, OriginsThatCannotBeAreDamaged) {
  const LimitOrigin good = {.runs = {"r-1", "r-2"},
                            .sessions = 15,
                            .factor = 0.8,
                            .baseline = 12.5,
                            .low = 9.5,
                            .high = 10.5};
  std::vector<LimitOrigin> wrong(9, good);
  wrong[0].runs.clear();
  wrong[1].runs.resize(kBaselineRunsMax + 1, "r");
  wrong[2].factor = 0;
  wrong[3].baseline = -1;
  wrong[4].baseline = std::nan("");
  wrong[5].low = 11;  // Above its high.
  wrong[6].low.reset();
  wrong[7].high = std::numeric_limits<double>::infinity();
  wrong[8].factor = std::numeric_limits<double>::infinity();
  for (const LimitOrigin& origin : wrong) {
    RunInfo run{.id = "r1"};
    run.bar.limits = {{Metric::kTtft, 0.9, 5, "", origin}};
    EXPECT_TRUE(absl::IsDataLoss(DecodeRun(EncodeRun(run)).status()));
    StepRow row;
    row.summary.verdict.parts = {{.limit = run.bar.limits[0]}};
    EXPECT_TRUE(absl::IsDataLoss(DecodeStep(EncodeStep(row)).status()));
  }
  RunInfo many{.id = "r1"};
  many.bar.limits.resize(kBarLimitsMax + 1);
  EXPECT_TRUE(absl::IsDataLoss(DecodeRun(EncodeRun(many)).status()));
  RunInfo unknown{.id = "r1"};
  unknown.bar.limits = {{static_cast<Metric>(kMetricsKnown + 1), 0.9, 5}};
  EXPECT_TRUE(absl::IsDataLoss(DecodeRun(EncodeRun(unknown)).status()));
}

}  // namespace
}  // namespace plimsoll
