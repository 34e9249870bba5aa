// A stored capacity: what earlier versions wrote is read, and what no run could have written is
// damage.
#include "coordinator/store/capacity_codec.h"

#include <limits>

#include "coordinator/store/run_codec.h"
#include "gtest/gtest.h"

namespace plimsoll {
namespace {

using Kind = CapacityEnd::Kind;

// Every field, set.
Capacity ACapacity() {
  const CapacityBand band = {.value = {Kind::kAt, 12.5, 9.75, true},
                             .low = {Kind::kBelow, 5, 4.5},
                             .high = {Kind::kAtLeast, 20}};
  return {
      .passed = 10,
      .failed = 15,
      .sentence = "10 sessions hold",
      .limited_by = Metric::kErrors,
      .requests_in_flight = 8.5,
      .band = band,
      .parts = {{.limit = {.metric = Metric::kTtft, .quantile = 0.99, .value = 5, .tier = "light"}},
                {.limit = {.metric = Metric::kErrors, .value = 0.02}, .band = band}},
      .limiting_part = 1};
}

RunInfo With(const Capacity& capacity) {
  return {.id = "r1", .capacity = capacity};
}

Capacity Good() {
  return {.band =
              CapacityBand{
                  .value = {Kind::kAt, 12.5}, .low = {Kind::kAt, 10}, .high = {Kind::kAtLeast, 15}},
          .parts = {{.limit = {.metric = Metric::kTtft}}},
          .limiting_part = 0};
}

TEST(CapacityCodec, KeepsEveryField) {
  const StatusOr<RunInfo> run = DecodeRun(EncodeRun(With(ACapacity())));
  ASSERT_TRUE(run.ok()) << MessageOf(run.status());
  EXPECT_EQ(run->capacity, ACapacity());
}

TEST(CapacityCodec, ReadsWhatEarlierVersionsWrote) {
  // The five fields of schema 1, as bytes: 10, 15, "old", TTFT, 8.5 in a run of id "r1".
  const std::string bytes(
      "\x0a\x02r1\x50\x02"
      "\x72\x14\x08\x0a\x10\x0f\x1a\x03old\x20\x01\x29\x00\x00\x00\x00\x00\x00\x21\x40",
      28);
  const StatusOr<RunInfo> run = DecodeRun(bytes);
  ASSERT_TRUE(run.ok()) << MessageOf(run.status());
  EXPECT_EQ(run->capacity, (Capacity{.passed = 10,
                                     .failed = 15,
                                     .sentence = "old",
                                     .limited_by = Metric::kTtft,
                                     .requests_in_flight = 8.5}));
}

TEST(CapacityCodec, NumbersThatCannotBeAreDamaged) {
  ASSERT_TRUE(DecodeRun(EncodeRun(With(Good()))).ok());
  std::vector<Capacity> wrong(10, Good());
  wrong[0].band->value.kind = static_cast<Kind>(0);
  wrong[1].band->value.kind = static_cast<Kind>(4);
  wrong[2].band->low.sessions = -1;
  wrong[3].band->high.sessions = std::numeric_limits<double>::quiet_NaN();
  wrong[4].band->low.sessions = 13;  // Above the value.
  wrong[5].band->high = {Kind::kBelow, 5};
  wrong[6].limiting_part = 1;
  wrong[7].limited_by = static_cast<Metric>(kMetricsKnown + 1);
  wrong[8].parts.resize(kBarLimitsMax + 1);
  wrong[9].parts[0].band = CapacityBand{.value = {static_cast<Kind>(9), 5}};
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    EXPECT_TRUE(absl::IsDataLoss(DecodeRun(EncodeRun(With(wrong[i]))).status())) << i;
  }
  Capacity infinite = Good();
  infinite.band->value.requests_in_flight = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(absl::IsDataLoss(DecodeRun(EncodeRun(With(infinite))).status()));
}

}  // namespace
}  // namespace plimsoll
