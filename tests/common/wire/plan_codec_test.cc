#include "common/wire/plan_codec.h"

#include "gtest/gtest.h"
#include "plimsoll/v1/plan.pb.h"
#include "tests/common/wire/random_values.h"

namespace plimsoll::test {
namespace {

// Through bytes, as it travels.
template <typename Proto, typename Value>
StatusOr<Value> RoundTrip(const Value& value) {
  Proto written;
  ToProto(value, &written);
  Proto read;
  if (!read.ParseFromString(written.SerializeAsString())) return absl::DataLossError("parse");
  return FromProto(read);
}

TEST(PlanCodec, KeepsAnyPlanStepAndLane) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const RunPlan plan = AnyRunPlan(&rng);
    const StatusOr<RunPlan> read = RoundTrip<v1::RunPlan>(plan);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(*read, plan);
    const StepPlan step = AnyStepPlan(&rng);
    const StatusOr<StepPlan> read_step = RoundTrip<v1::StepPlan>(step);
    ASSERT_TRUE(read_step.ok()) << read_step.status();
    EXPECT_EQ(*read_step, step);
    const LaneSpec lane{.lane = Any32(&rng, limits::kLanesMax - 1),
                        .tier = 7,
                        .agent_slot = Any32(&rng, limits::kAgentsMax - 1)};
    const StatusOr<LaneSpec> read_lane = RoundTrip<v1::LaneSpec>(lane);
    ASSERT_TRUE(read_lane.ok()) << read_lane.status();
    EXPECT_EQ(*read_lane, lane);
  }
}

}  // namespace
}  // namespace plimsoll::test
