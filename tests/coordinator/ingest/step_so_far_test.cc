// Numbers so far: equal to what the merged histograms say, whatever the cells hold.
#include "coordinator/ingest/step_so_far.h"

#include "common/base/rng.h"
#include "gtest/gtest.h"
#include "tests/coordinator/ingest/step_builder.h"

namespace plimsoll {
namespace {

TEST(StepSoFar, OfNothingSaysNothing) {
  const StepSoFar so_far = SoFar({}, {}, {});
  EXPECT_EQ(so_far.ttft_n, 0u);
  EXPECT_EQ(so_far.ttft_p90_ns, Percentile{});
  EXPECT_FALSE(so_far.rate_p90_mtok_s.has_value());
}

TEST(StepSoFar, EqualsTheMergedHistograms) {
  const Bar bar{.limits = {{.metric = Metric::kTtft, .quantile = 0.5},
                           {.metric = Metric::kInteractivity, .quantile = 0.99},
                           {.metric = Metric::kTtft, .quantile = 0.9, .tier = "heavy"}}};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    std::vector<Cell> cells(rng.Below(30));
    Histogram ttft;
    Histogram rate;
    std::uint64_t infinite = 0;
    std::uint64_t zeros = 0;
    Histogram heavy;
    std::uint64_t heavy_infinite = 0;
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
      cell.counts.tier = static_cast<std::uint8_t>(rng.Below(2));
      if (cell.counts.tier == 0) {
        heavy.Merge(cell.ttft_ns);
        heavy_infinite += failed;
      }
      rate.Merge(cell.rate_mtok_s);
    }
    const StepSoFar so_far = SoFar(cells, bar, {"heavy", "light"});
    EXPECT_EQ(so_far.ttft_n, ttft.count() + infinite);
    EXPECT_EQ(so_far.rate_n, rate.count() + zeros);
    EXPECT_EQ(so_far.ttft_p90_ns, ttft.QuantileWithInfinite(0.9, infinite));
    const Percentile p50 = ttft.QuantileWithInfinite(0.5, infinite);
    EXPECT_EQ(so_far.parts[0].value.infinite, p50.infinite);
    EXPECT_EQ(so_far.parts[0].value.value.has_value(), p50.value.has_value());
    if (p50.value) {
      EXPECT_EQ(so_far.parts[0].value.value, static_cast<double>(*p50.value) / 1e9);
    }
    EXPECT_EQ(so_far.parts[0].n, so_far.ttft_n);
    EXPECT_EQ(so_far.rate_p90_mtok_s, rate.ReachedByWithZeros(0.9, zeros));
    const auto p99 = rate.ReachedByWithZeros(0.99, zeros);
    EXPECT_EQ(so_far.parts[1].value.value.has_value(), p99.has_value());
    if (p99) {
      EXPECT_EQ(so_far.parts[1].value.value, static_cast<double>(*p99) / 1e3);
    }
    EXPECT_EQ(so_far.parts[2].n, heavy.count() + heavy_infinite) << "the heavy tier's alone";
    EXPECT_EQ(so_far.parts[2].value.infinite,
              heavy.QuantileWithInfinite(0.9, heavy_infinite).infinite);
  }
}

TEST(StepSoFar, AFailedCallIsInfinitelySlow) {
  const Bar bar{.limits = {{.metric = Metric::kTtft, .quantile = 0.8},
                           {.metric = Metric::kErrors},
                           {.metric = Metric::kToolCalls}}};
  StepIngest ingest = MakeIngest();
  for (int i = 0; i < 8; ++i) ingest.Add(OkCall(20.0 + i));
  ingest.Add(FailedCall(30, Outcome::kRefused));
  ingest.Add(FailedCall(31, Outcome::kRefused));
  const StepSoFar so_far = SoFar(ingest.cells(), bar, ingest.tier_names());
  EXPECT_EQ(so_far.ttft_n, 10u);
  EXPECT_TRUE(so_far.ttft_p90_ns.infinite);
  EXPECT_EQ(so_far.parts[0].value.value, 1);
  EXPECT_EQ(so_far.parts[1].n, 10u);
  EXPECT_EQ(so_far.parts[1].value.value, 0.2) << "errors so far";
  EXPECT_EQ(so_far.parts[2].n, 0u);
  EXPECT_FALSE(so_far.parts[2].value.value.has_value());
  EXPECT_EQ(so_far.rate_p90_mtok_s, 0);
  EXPECT_EQ(ingest.attempts(), 10u);
  EXPECT_EQ(ingest.outcomes()[static_cast<std::size_t>(Outcome::kRefused)], 2u);
}

}  // namespace
}  // namespace plimsoll
