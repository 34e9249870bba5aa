// What a page shows apart from what is: frozen, stale, reset; SGLang's log lines.
#include "gateway/metrics/engine_display.h"

#include "gtest/gtest.h"
#include "tests/gateway/metrics/metered_engine.h"

namespace plimsoll {
namespace {

EngineGauges Shown(MeteredEngine& engine) {
  return engine.Show()[0].gauges;
}

TEST(EngineDisplay, GaugesStayAfterAnAbortUntilTheNextStep) {
  for (const MetricKind kind : {MetricKind::kVllm, MetricKind::kSglang, MetricKind::kLlamaCpp}) {
    SCOPED_TRACE(Name(kind));
    MeteredEngine engine(kind, 1, 1);
    for (int i = 0; i < 8; ++i) engine.SendTo(0, 2'000, 5'000);
    engine.RunFor(20s);
    const EngineGauges before = Shown(engine);
    EXPECT_EQ(before.running, 6u);
    EXPECT_EQ(before.waiting, 2u);
    EXPECT_GT(before.kv_usage, 0);
    engine.AbortAll(/*frozen=*/true);
    EXPECT_EQ(engine.gauges(0).running, 0u);
    engine.RunFor(60s);
    EXPECT_EQ(Shown(engine).running, before.running);
    EXPECT_EQ(Shown(engine).waiting, before.waiting);
    EXPECT_EQ(Shown(engine).kv_usage, before.kv_usage);
    engine.SendTo(0, 100, 2);  // A probe makes the engine step.
    engine.RunFor(20s);
    EXPECT_EQ(Shown(engine).running, 0u);
    EXPECT_EQ(Shown(engine).kv_usage, 0);
  }
}

TEST(EngineDisplay, GaugesFollowAnAbortWhereNothingIsWrong) {
  for (const MetricKind kind : {MetricKind::kVllm, MetricKind::kSglang, MetricKind::kLlamaCpp}) {
    SCOPED_TRACE(Name(kind));
    MeteredEngine engine(kind, 1, 1);
    for (int i = 0; i < 8; ++i) engine.SendTo(0, 2'000, 5'000);
    engine.RunFor(20s);
    engine.AbortAll(/*frozen=*/false);
    EXPECT_EQ(Shown(engine).running, 0u);
    EXPECT_EQ(Shown(engine).waiting, 0u);
  }
}

TEST(EngineDisplay, SglangsGaugesAreThoseOfItsLastLogLine) {
  MeteredEngine engine(MetricKind::kSglang, 1, 1);
  engine.SendTo(0, 8'000, 5'000);
  EXPECT_EQ(Shown(engine).running, 1u) << "its prefill began, which is logged";
  engine.SendTo(0, 100, 5'000);
  EXPECT_EQ(Shown(engine).waiting, 0u) << "nothing was logged since";
  EXPECT_EQ(engine.gauges(0).waiting, 1u);
  engine.RunFor(60s);
  EXPECT_EQ(Shown(engine).running, 2u);
  const std::uint64_t shown = Shown(engine).generated_tokens;
  engine.RunFor(20ms);
  EXPECT_GT(engine.gauges(0).generated_tokens, shown);
  EXPECT_EQ(Shown(engine).generated_tokens, shown) << "until forty steps have passed";
  engine.RunFor(10s);
  EXPECT_GT(Shown(engine).generated_tokens, shown);
}

TEST(EngineDisplay, AStalePageStaysAsItWas) {
  MeteredEngine engine(MetricKind::kVllm, 1, 1);
  engine.Load(20);
  engine.Sync();
  const EngineGauges was = engine.gauges(0);
  engine.display(0).SetStale(true, engine.Now());
  engine.Load(20);
  engine.display(0).SetStale(true, engine.Now());
  EXPECT_EQ(Shown(engine).prompt_tokens, was.prompt_tokens);
  EXPECT_EQ(Shown(engine).running, was.running);
  EXPECT_LT(engine.Show()[0].counts.ttft.count(), engine.seen(0).ttft.size());
  engine.display(0).SetStale(false, engine.Now());
  EXPECT_EQ(Shown(engine).prompt_tokens, engine.gauges(0).prompt_tokens);
  EXPECT_EQ(engine.Show()[0].counts.ttft.count(), engine.seen(0).ttft.size());
}

TEST(EngineDisplay, ResetCountersBeginAtZeroWithOrWithoutTheStartTime) {
  for (const MetricKind kind : {MetricKind::kVllm, MetricKind::kSglang, MetricKind::kLlamaCpp}) {
    for (const bool restart : {false, true}) {
      MeteredEngine engine(kind, 1, 1);
      engine.Load(30);
      engine.Sync();
      const std::uint32_t running = engine.gauges(0).running;
      EXPECT_GT(running, 0u);
      if (restart) {
        engine.display(0).Restart(engine.Now(), MeteredEngine::kStarted + 1h);
      } else {
        engine.display(0).Reset(engine.Now());
      }
      const EngineState zero = engine.Show()[0];
      EXPECT_EQ(zero.started, MeteredEngine::kStarted + (restart ? 1h : 0h));
      EXPECT_EQ(zero.gauges.prompt_tokens + zero.gauges.generated_tokens, 0u);
      EXPECT_EQ(zero.counts.ttft.count() + zero.counts.gap.count(), 0u);
      EXPECT_EQ(zero.gauges.running, running) << "gauges are what is";
      const std::size_t first = engine.seen(0).ttft.size();
      engine.Drain();
      EXPECT_EQ(engine.Show()[0].counts.ttft.count(), engine.seen(0).ttft.size() - first);
    }
  }
}

}  // namespace
}  // namespace plimsoll
