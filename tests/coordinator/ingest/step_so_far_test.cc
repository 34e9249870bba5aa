// Numbers so far: equal to what the merged histograms say, whatever the cells hold.
#include "coordinator/ingest/step_so_far.h"

#include "common/base/rng.h"
#include "gtest/gtest.h"
#include "tests/coordinator/ingest/step_builder.h"

namespace plimsoll {
namespace {

TEST(StepSoFar, OfNothingSaysNothing) {
  const StepSoFar so_far = SoFar({}, 0.9, 0.9);
  EXPECT_EQ(so_far.ttft_n, 0u);
  EXPECT_EQ(so_far.ttft_p90_ns, Percentile{});
  EXPECT_FALSE(so_far.rate_p90_mtok_s.has_value());
}

TEST(StepSoFar, EqualsTheMergedHistograms) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<Cell> cells(rng.Below(30));
    Histogram ttft;
    Histogram rate;
    std::uint64_t infinite = 0;
    std::uint64_t zeros = 0;
    for (Cell& cell : cells) {
      for (std::uint64_t i = rng.Below(40); i > 0; --i) {
        // Up to 2^48: some overflow, and some lie below 512, where buckets are single values.
        cell.ttft_ns.Record(static_cast<std::int64_t>(rng.Next() >> (16 + rng.Below(44))));
        cell.rate_mtok_s.Record(static_cast<std::int64_t>(rng.Below(100'000)));
      }
      const std::uint64_t failed = rng.Below(4);
      cell.counts.ttft_n = static_cast<std::uint32_t>(cell.ttft_ns.count() + failed);
      cell.counts.rate_n = static_cast<std::uint32_t>(cell.rate_mtok_s.count() + failed);
      infinite += failed;
      zeros += failed;
      ttft.Merge(cell.ttft_ns);
      rate.Merge(cell.rate_mtok_s);
    }
    const StepSoFar so_far = SoFar(cells, 0.5, 0.99);
    EXPECT_EQ(so_far.ttft_n, ttft.count() + infinite);
    EXPECT_EQ(so_far.rate_n, rate.count() + zeros);
    EXPECT_EQ(so_far.ttft_p90_ns, ttft.QuantileWithInfinite(0.9, infinite));
    EXPECT_EQ(so_far.ttft_asked_ns, ttft.QuantileWithInfinite(0.5, infinite));
    EXPECT_EQ(so_far.rate_p90_mtok_s, rate.ReachedByWithZeros(0.9, zeros));
    EXPECT_EQ(so_far.rate_asked_mtok_s, rate.ReachedByWithZeros(0.99, zeros));
  }
}

TEST(StepSoFar, AFailedCallIsInfinitelySlow) {
  StepIngest ingest = MakeIngest();
  for (int i = 0; i < 8; ++i) ingest.Add(OkCall(20.0 + i));
  ingest.Add(FailedCall(30, Outcome::kRefused));
  ingest.Add(FailedCall(31, Outcome::kRefused));
  const StepSoFar so_far = SoFar(ingest.cells(), 0.8, 0.8);
  EXPECT_EQ(so_far.ttft_n, 10u);
  EXPECT_TRUE(so_far.ttft_p90_ns.infinite);
  EXPECT_EQ(so_far.ttft_asked_ns.value, Sec(1));
  EXPECT_EQ(so_far.rate_p90_mtok_s, 0);
  EXPECT_EQ(ingest.attempts(), 10u);
  EXPECT_EQ(ingest.outcomes()[static_cast<std::size_t>(Outcome::kRefused)], 2u);
}

}  // namespace
}  // namespace plimsoll
