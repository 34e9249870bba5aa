// The rehearsal gateway's own page, read as an engine's.
#include "gateway/server/engine_metrics.h"
#include "gtest/gtest.h"
#include "tests/coordinator/signals/sample_pages.h"

namespace plimsoll {
namespace {

TEST(GatewayPage, IsReadThroughTheMappingOfItsNames) {
  CopyMetrics copies[2];
  EngineGauges gauges[2];
  const auto page = [&] {
    return FormatMetrics({.model = "org/model \"m\"",
                          .started = WallTime() + 1'700'000'000s,
                          .copies = copies,
                          .gauges = gauges,
                          .kv_blocks = 100});
  };
  const std::string before = page();
  for (int copy = 0; copy < 2; ++copy) {
    copies[copy].ttft.Observe(0.3, 5);
    copies[copy].ttft.Observe(6);
    copies[copy].inter_token.Observe(0.02, 50);
    copies[copy].per_output_token.Observe(0.02, 4);
    copies[copy].end_to_end.Observe(9, 4);
    copies[copy].stop = 3;
    copies[copy].length = 1;
    gauges[copy] = {.running = 2,
                    .waiting = 3,
                    .kv_usage = copy == 0 ? 0.25 : 0.75,
                    .prompt_tokens = 1000,
                    .cached_tokens = 400,
                    .generated_tokens = 56,
                    .finished = 4};
  }
  const TargetReading reading =
      ReadingOf(Builtin("vllm"), {before, page()}, {.model = "org/model \"m\"", .where = {}});
  EXPECT_EQ(reading.continuity, Continuity::kWhole);
  EXPECT_EQ(reading.Of(Signal::kTtft).histograms.at(0).n, 12u);
  EXPECT_EQ(CountAt(reading.Of(Signal::kTtft).histograms.at(0), 5, 0.9).surely, 10u);
  EXPECT_EQ(reading.Of(Signal::kTimePerToken).histograms.at(0).n, 8u);
  EXPECT_EQ(reading.Of(Signal::kTokenGap).histograms.at(0).n, 100u);
  EXPECT_EQ(reading.Of(Signal::kFinished).increase, 8);
  EXPECT_EQ(reading.Of(Signal::kTokensIn).increase, 2000);
  EXPECT_EQ(reading.Of(Signal::kPrefixHits).increase, 800);
  EXPECT_EQ(reading.Of(Signal::kTokensOut).increase, 112);
  EXPECT_EQ(reading.Of(Signal::kRunning).gauge.last, 4);
  EXPECT_EQ(reading.Of(Signal::kWaiting).gauge.last, 6);
  EXPECT_EQ(reading.Of(Signal::kKvFill).gauge.last, 0.75);
}

}  // namespace
}  // namespace plimsoll
