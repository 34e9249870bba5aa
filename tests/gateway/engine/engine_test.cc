// The engine model in virtual time, with the noise off: exact timings.
#include "gateway/engine/engine.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/sim_scheduler.h"
#include "tests/gateway/engine/seen.h"

namespace plimsoll {
namespace {

MonoTime T(double seconds) {
  return MonoTime{} + FromSeconds(seconds);
}

// 1,000 uncached tokens a second after 0.1 s, 10 tokens a second alone, half of it in a batch of 2.
EngineConfig Exact() {
  EngineConfig config;
  config.running_max = 8;
  config.prefill_tokens_per_s = 1000;
  config.prefill_base_s = 0.1;
  config.decode_tokens_per_s = 10;
  config.decode_slowdown = 1;
  config.decode_during_prefill = 1;
  config.kv_blocks = 1000;
  config.noise = {.call_sigma = 0, .session_sigma = 0, .drift_sigma = 0, .cold_share = 0};
  return config;
}

class EngineTest : public ::testing::Test {
 protected:
  Engine& Make(const EngineConfig& config, EngineSeeds seeds = {}) {
    engine_ = std::make_unique<Engine>(sim_, config, seeds);
    return *engine_;
  }
  Engine::Ticket Submit(std::uint64_t key, std::uint32_t prompt, std::uint32_t output,
                        EngineObserver& observer) {
    const BlockSpan span{key, 0, (prompt + 63) / 64};
    return engine_->Submit({.blocks = {&span, 1},
                            .prompt_tokens = prompt,
                            .output_tokens = output,
                            .session_key = key,
                            .call_key = next_call_++},
                           observer);
  }

  SimScheduler sim_;
  std::unique_ptr<Engine> engine_;
  std::uint64_t next_call_ = 1;
};

TEST_F(EngineTest, OneCallTakesPrefillThenDecode) {
  Make(Exact());
  Seen a;
  Submit(1, 400, 11, a);
  EXPECT_EQ(engine_->gauges().running, 1u);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(a.first, T(0.5));
  EXPECT_EQ(a.finished, T(1.5));
  EXPECT_EQ(a.cached_tokens, 0u);
  const EngineGauges g = engine_->gauges();
  EXPECT_EQ(g.prompt_tokens, 400u);
  EXPECT_EQ(g.generated_tokens, 11u);
  EXPECT_EQ(g.finished, 1u);
  EXPECT_EQ(g.running, 0u);
  EXPECT_EQ(g.kv_usage, 0);
}

TEST_F(EngineTest, OneTokenCallEndsWithItsFirstToken) {
  Make(Exact());
  Seen a, b;
  Submit(1, 400, 1, a);
  Submit(2, 400, 0, b);  // 0 counts as 1.
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(a.first, T(0.5));
  EXPECT_EQ(a.finished, T(0.5));
  EXPECT_EQ(b.finished, T(1.0));
  EXPECT_EQ(engine_->gauges().generated_tokens, 2u);
}

TEST_F(EngineTest, TwoShareTheDecode) {
  Make(Exact());
  Seen a, b;
  Submit(1, 400, 11, a);
  Submit(2, 400, 11, b);
  EXPECT_EQ(engine_->gauges().waiting, 1u);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(a.first, T(0.5));
  EXPECT_EQ(b.first, T(1.0));  // Prefills go one at a time.
  // a has 5 of its 10 further tokens at 1.0; the other 5 come at 5 a second.
  EXPECT_EQ(a.finished, T(2.0));
  // b has 5 at 2.0, then goes alone.
  EXPECT_EQ(b.finished, T(2.5));
}

TEST_F(EngineTest, PrefillSlowsDecodeByItsShare) {
  EngineConfig config = Exact();
  config.decode_during_prefill = 0.5;
  Make(config);
  Seen a, b;
  Submit(1, 400, 11, a);
  Submit(2, 400, 1, b);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(b.first, T(1.0));
  EXPECT_EQ(a.finished, T(1.75));  // 2.5 tokens while b prefilled, 7.5 alone.
}

TEST_F(EngineTest, PrefillMayBlockDecode) {
  EngineConfig config = Exact();
  config.decode_during_prefill = 0;
  Make(config);
  Seen a, b;
  const Engine::Ticket first = Submit(1, 400, 11, a);
  Submit(2, 400, 1, b);
  sim_.RunUntil(T(0.7));
  EXPECT_EQ(engine_->TokensDone(first), 1u);
  EXPECT_EQ(engine_->NextTokenAt(first), T(1.0));  // Look again when the prefill is over.
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(a.finished, T(2.0));
}

TEST_F(EngineTest, QueueIsFirstComeWhenTheBatchIsFull) {
  EngineConfig config = Exact();
  config.running_max = 1;
  Make(config);
  Seen a, b, c;
  Submit(1, 400, 6, a);
  Submit(2, 400, 1, b);
  Submit(3, 100, 1, c);
  sim_.RunUntil(T(0.9));
  EXPECT_EQ(engine_->gauges().waiting, 2u);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(a.finished, T(1.0));
  EXPECT_EQ(b.first, T(1.5));
  EXPECT_EQ(c.first, T(1.7));
}

TEST_F(EngineTest, TokensComeAtTheBatchesPace) {
  Make(Exact());
  Seen a, b;
  const Engine::Ticket ticket = Submit(1, 400, 11, a);
  EXPECT_EQ(engine_->TokensDone(ticket), 0u);
  EXPECT_EQ(engine_->NextTokenAt(ticket), T(0.5));
  sim_.RunUntil(T(0.75));
  EXPECT_EQ(engine_->TokensDone(ticket), 3u);
  EXPECT_EQ(engine_->NextTokenAt(ticket), T(0.8));
  EXPECT_EQ(engine_->gauges().generated_tokens, 3u);
  Submit(2, 100, 11, b);  // Decodes from 0.95 on.
  sim_.RunUntil(T(1.0));
  EXPECT_EQ(engine_->TokensDone(ticket), 5u);  // 1 + 4.5 + 0.25.
  EXPECT_EQ(engine_->NextTokenAt(ticket), T(1.05));
  EXPECT_EQ(engine_->TokensDone(ticket + (1ull << 32)), 0u);
  EXPECT_EQ(engine_->NextTokenAt(0), MonoTime::max());
}

TEST_F(EngineTest, SecondCallHitsThePrefixOfTheFirst) {
  Make(Exact());
  Seen a, b;
  Submit(1, 670, 1, a);  // Ten full blocks; the partial one is never cached.
  EXPECT_TRUE(sim_.RunUntilIdle());
  const MonoTime start = sim_.Now();
  Submit(1, 900, 1, b);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(b.cached_tokens, 640u);
  EXPECT_EQ(b.first - start, FromSeconds(0.1 + 0.26));
  EXPECT_EQ(engine_->gauges().cached_tokens, 640u);
}

TEST_F(EngineTest, LastBlockIsAlwaysComputed) {
  Make(Exact());
  Seen a, b;
  Submit(1, 640, 1, a);
  Submit(1, 640, 1, b);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(b.cached_tokens, 576u);
}

TEST_F(EngineTest, ColdStartIsOnPrefillAlone) {
  EngineConfig config = Exact();
  config.noise.cold_share = 1;
  config.noise.cold_factor = 3;
  Make(config);
  Seen a;
  Submit(1, 400, 11, a);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(a.first, T(1.5));
  EXPECT_EQ(a.finished, T(2.5));
}

TEST_F(EngineTest, CacheOffComputesAll) {
  EngineConfig config = Exact();
  config.prefix_cache = false;
  Make(config);
  Seen a, b;
  Submit(1, 640, 1, a);
  Submit(1, 640, 1, b);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(b.cached_tokens, 0u);
  EXPECT_EQ(b.first, T(1.48));
}

TEST_F(EngineTest, SmallCacheEvictsTheLeastRecent) {
  EngineConfig config = Exact();
  config.kv_blocks = 25;
  Make(config);
  Seen a, b, c, a2, b2;
  Submit(1, 640, 1, a);  // 10 cached blocks each, 11 held while running.
  Submit(2, 640, 1, b);
  EXPECT_TRUE(sim_.RunUntilIdle());
  Submit(3, 640, 1, c);  // 5 free: evicts 6 of the first's, from their end.
  EXPECT_TRUE(sim_.RunUntilIdle());
  Submit(2, 640, 1, b2);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(b2.cached_tokens, 576u);
  Submit(1, 640, 1, a2);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(a2.cached_tokens, 3u * 64);  // The second's return took one more.
}

TEST_F(EngineTest, RequestWaitsForBlocksAndHoldsTheQueue) {
  EngineConfig config = Exact();
  config.kv_blocks = 20;
  Make(config);
  Seen a, b, c;
  Submit(1, 640, 64, a);  // 11 blocks.
  Submit(2, 640, 1, b);   // 11 more do not fit.
  Submit(3, 64, 1, c);    // Would fit, but is behind.
  sim_.RunUntil(T(2));
  EXPECT_EQ(engine_->gauges().waiting, 2u);
  EXPECT_DOUBLE_EQ(engine_->gauges().kv_usage, 11.0 / 20);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(a.finished, T(0.74 + 6.3));
  EXPECT_EQ(b.first, T(0.74 + 6.3 + 0.74));
  EXPECT_GT(c.first, b.first);
}

TEST_F(EngineTest, FitsIsTheWholeCache) {
  EngineConfig config = Exact();
  config.kv_blocks = 20;
  Make(config);
  EXPECT_TRUE(engine_->Fits(1279, 1));
  EXPECT_FALSE(engine_->Fits(1280, 1));
  Seen a;
  Submit(1, 5000, 3, a);  // Nobody asked: it still runs, alone.
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(engine_->gauges().finished, 1u);
}

TEST_F(EngineTest, CancelFreesEverythingAtOnce) {
  EngineConfig config = Exact();
  config.running_max = 2;
  Make(config);
  Seen decoding, prefilling, waiting, last;
  const Engine::Ticket d = Submit(1, 400, 100, decoding);
  const Engine::Ticket p = Submit(2, 4000, 100, prefilling);
  const Engine::Ticket w = Submit(3, 400, 100, waiting);
  Submit(4, 400, 1, last);
  sim_.RunUntil(T(1));
  engine_->Cancel(w);
  engine_->Cancel(d);
  engine_->Cancel(d);
  engine_->Cancel(p);
  engine_->Cancel(0);
  EXPECT_EQ(engine_->gauges().cancelled, 3u);
  EXPECT_EQ(engine_->gauges().running, 1u);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(last.first, T(1.5));
  EXPECT_EQ(decoding.first, T(0.5));
  EXPECT_EQ(decoding.finished, kNever);
  EXPECT_EQ(prefilling.first, kNever);
  EXPECT_EQ(waiting.first, kNever);
  EXPECT_EQ(engine_->gauges().kv_usage, 0);
  // The decoding one had 1 + 5 tokens; the others none.
  EXPECT_EQ(engine_->gauges().generated_tokens, 7u);
}

TEST_F(EngineTest, ObserverMaySubmitAndCancelInItsCallbacks) {
  Make(Exact());
  struct Chain final : EngineObserver {
    int left = 3;
    Seen other;
    void OnFirstToken(MonoTime, std::uint32_t) override {
      ticket = engine->Submit({.prompt_tokens = 10, .output_tokens = 50, .session_key = 9}, other);
    }
    void OnFinished(MonoTime) override {
      engine->Cancel(ticket);
      if (--left > 0) engine->Submit({.prompt_tokens = 100, .output_tokens = 3}, *this);
    }
    Engine* engine = nullptr;
    Engine::Ticket ticket = 0;
  } chain;
  chain.engine = engine_.get();
  engine_->Submit({.prompt_tokens = 100, .output_tokens = 3}, chain);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(engine_->gauges().finished, 3u);
  EXPECT_EQ(engine_->gauges().cancelled, 3u);
}

TEST_F(EngineTest, SessionsStickToTheirCopy) {
  EngineConfig config = Exact();
  config.copies = 4;
  config.running_max = 1;
  Make(config);
  std::vector<int> per_copy(4);
  for (std::uint64_t key = 0; key < 4000; ++key) ++per_copy[engine_->CopyOf(key)];
  for (const int n : per_copy) EXPECT_NEAR(n, 1000, 150);
  std::uint64_t other = 2;
  while (engine_->CopyOf(other) == engine_->CopyOf(1)) ++other;
  Seen a, b, c;
  Submit(1, 400, 11, a);
  Submit(1, 400, 11, b);
  Submit(other, 400, 11, c);
  EXPECT_TRUE(sim_.RunUntilIdle());
  EXPECT_EQ(c.finished, T(1.5));
  EXPECT_EQ(b.cached_tokens, 384u);
  EXPECT_EQ(engine_->CopyGauges(engine_->CopyOf(1)).finished, 2u);
  EXPECT_EQ(engine_->gauges().finished, 3u);
}

}  // namespace
}  // namespace plimsoll
