// The engine model under random load with everything on: conservation and determinism.
#include <algorithm>
#include <vector>

#include "common/base/rng.h"
#include "gateway/engine/engine.h"
#include "gtest/gtest.h"
#include "tests/fakes/sim_scheduler.h"
#include "tests/gateway/engine/seen.h"

namespace plimsoll {
namespace {

// Random load with the full noise, small cache and cancellations: what went in came out.
struct Outcome {
  std::vector<MonoTime> stamps;
  EngineGauges gauges;
};

Outcome RandomLoad(std::uint64_t seed, EngineSeeds seeds) {
  SimScheduler sim;
  EngineConfig config;
  config.copies = 2;
  config.running_max = 6;
  config.kv_blocks = 900;
  Engine engine(sim, config, seeds);
  Rng rng(seed);
  constexpr int kCalls = 2000;
  std::vector<Seen> seen(kCalls);
  std::vector<Engine::Ticket> tickets;
  std::uint64_t cancels = 0;
  for (int i = 0; i < kCalls; ++i) {
    const std::uint64_t session = rng.Below(12);
    const auto prompt = static_cast<std::uint32_t>(1 + rng.Below(20'000));
    const BlockSpan spans[] = {{1, 0, 10}, {session + 10, 0, 400}};
    tickets.push_back(engine.Submit({.blocks = spans,
                                     .prompt_tokens = prompt,
                                     .output_tokens = static_cast<std::uint32_t>(rng.Below(60)),
                                     .session_key = session,
                                     .call_key = static_cast<std::uint64_t>(i)},
                                    seen[static_cast<std::size_t>(i)]));
    sim.Advance(FromSeconds(0.3 * rng.Exponential()));
    const std::uint64_t back = std::min<std::uint64_t>(tickets.size(), 1 + rng.Below(20));
    if (rng.Chance(0.3)) engine.Cancel(tickets[tickets.size() - back]);
    const EngineGauges g = engine.gauges();
    EXPECT_EQ(tickets.size(), g.finished + g.cancelled + g.running + g.waiting) << "call " << i;
    EXPECT_LE(g.kv_usage, 1.0);
    cancels = g.cancelled;
  }
  EXPECT_GT(cancels, 50u);
  EXPECT_TRUE(sim.RunUntilIdle());
  Outcome outcome{.gauges = engine.gauges()};
  std::uint64_t finished = 0;
  for (const Seen& s : seen) {
    outcome.stamps.push_back(s.first);
    outcome.stamps.push_back(s.finished);
    finished += s.finished == kNever ? 0 : 1;
    EXPECT_TRUE(s.finished == kNever || s.first <= s.finished);
  }
  EXPECT_EQ(finished, outcome.gauges.finished);
  EXPECT_EQ(outcome.gauges.kv_usage, 0);
  return outcome;
}

TEST(EngineLoad, ConservesRequestsAndRepeatsFromItsSeeds) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    const Outcome once = RandomLoad(seed, {.path = 5, .calls = 6});
    const Outcome twice = RandomLoad(seed, {.path = 5, .calls = 6});
    EXPECT_EQ(once.stamps, twice.stamps);
    EXPECT_NE(once.stamps, RandomLoad(seed, {.path = 7, .calls = 6}).stamps);
    EXPECT_NE(once.stamps, RandomLoad(seed, {.path = 5, .calls = 7}).stamps);
    EXPECT_GT(once.gauges.cached_tokens, 0u);
  }
}

}  // namespace
}  // namespace plimsoll
