// Which faults strike when: rules, seed, number and time decide, nothing else.
#include "gateway/faults/faults.h"

#include <vector>

#include "gateway/faults/copy_outages.h"
#include "gateway/faults/engine_faults.h"
#include "gtest/gtest.h"
#include "tests/fakes/sim_scheduler.h"

namespace plimsoll {
namespace {

// The rule of a gate that strikes request `number`.
const FaultRule* Struck(const std::vector<FaultRule>& rules, std::uint64_t seed,
                        std::uint64_t number, const FaultMoment& moment) {
  return FaultFor(rules, kGateFaults, seed, {.number = number}, moment);
}

TEST(Faults, StrikeInTheirTimeOnly) {
  const std::vector<FaultRule> rules = {{.at = 20s, .span = 10s}};
  EXPECT_EQ(Struck(rules, 1, 1, {19999ms, 0s}), nullptr);
  EXPECT_EQ(Struck(rules, 1, 1, {20s, 0s}), &rules[0]);
  EXPECT_EQ(Struck(rules, 1, 1, {29999ms, 0s}), &rules[0]);
  EXPECT_EQ(Struck(rules, 1, 1, {30s, 0s}), nullptr);
}

TEST(Faults, WithoutAnEndGoOnForEver) {
  const std::vector<FaultRule> rules = {{.at = 20s}};
  EXPECT_EQ(Struck(rules, 1, 1, {Duration::max(), 0s}), &rules[0]);
}

TEST(Faults, MayCountFromTheFirstRequest) {
  const std::vector<FaultRule> rules = {{.at = 5s, .from_first_request = true}};
  EXPECT_EQ(Struck(rules, 1, 1, {100s, std::nullopt}), nullptr);
  EXPECT_EQ(Struck(rules, 1, 1, {104s, 100s}), nullptr);
  EXPECT_EQ(Struck(rules, 1, 1, {105s, 100s}), &rules[0]);
}

TEST(Faults, FollowTheirProbabilityAndSeed) {
  const std::vector<FaultRule> rules = {{.probability = 0.2}, {.probability = 0.5}};
  int first = 0;
  int second = 0;
  int differ = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    const FaultRule* fault = Struck(rules, 1, n, {});
    first += fault == &rules[0];
    second += fault == &rules[1];
    EXPECT_EQ(fault, Struck(rules, 1, n, {}));
    differ += fault != Struck(rules, 2, n, {});
  }
  EXPECT_NEAR(first, 2000, 150);
  EXPECT_NEAR(second, 4000, 200);
  EXPECT_GT(differ, 1000);
}

TEST(Faults, CrashIsKnownBeforehandUnlessByChance) {
  const std::vector<FaultRule> rules = {
      {.kind = FaultKind::kCrash, .at = 30s},
      {.kind = FaultKind::kCrash, .at = 5s, .from_first_request = true},
      {.kind = FaultKind::kCrash, .at = 1s, .probability = 0.5},
      {.kind = FaultKind::kRefuse}};
  EXPECT_EQ(CrashAt(rules, std::nullopt), Duration(30s));
  EXPECT_EQ(CrashAt(rules, 10s), Duration(15s));
  EXPECT_EQ(CrashAt(rules, 28s), Duration(30s));
  EXPECT_EQ(CrashAt({}, 10s), std::nullopt);
}

TEST(Faults, AreAskedForByKind) {
  const std::vector<FaultRule> rules = {
      {.kind = FaultKind::kStall}, {.kind = FaultKind::kRefuse}, {.kind = FaultKind::kTruncate}};
  EXPECT_EQ(Struck(rules, 1, 1, {}), &rules[1]);
  EXPECT_EQ(FaultFor(rules, kAnswerFaults, 1, {}, {}), &rules[0]);
}

TEST(Faults, StrikeUnderLoadAndOnTheirCopiesOnly) {
  const std::vector<FaultRule> rules = {{.in_flight_min = 4, .copies = {0, 2}}};
  EXPECT_EQ(FaultFor(rules, kGateFaults, 1, {.copy = 2, .in_flight = 3}, {}), nullptr);
  EXPECT_EQ(FaultFor(rules, kGateFaults, 1, {.copy = 1, .in_flight = 4}, {}), nullptr);
  EXPECT_EQ(FaultFor(rules, kGateFaults, 1, {.copy = 2, .in_flight = 4}, {}), &rules[0]);
}

TEST(Faults, ThoseOfAllRequestsHaveTheirTimeToo) {
  const std::vector<FaultRule> rules = {{.kind = FaultKind::kHtml, .at = 2s, .span = 1s}};
  EXPECT_EQ(ActiveFault(rules, FaultKind::kHtml, 0, {1s, std::nullopt}), nullptr);
  EXPECT_EQ(ActiveFault(rules, FaultKind::kHtml, 0, {2s, std::nullopt}), &rules[0]);
  EXPECT_EQ(ActiveFault(rules, FaultKind::kHtml, 0, {3s, std::nullopt}), nullptr);
  EXPECT_EQ(ActiveFault(rules, FaultKind::kSlowStart, 0, {2s, std::nullopt}), nullptr);
}

TEST(Faults, OfTheEngineAddUp) {
  const std::vector<FaultRule> rules = {
      {.kind = FaultKind::kSlower, .at = 1s, .factor = 2},
      {.kind = FaultKind::kSlower, .at = 2s, .span = 1s, .copies = {1}, .factor = 3},
      {.kind = FaultKind::kKvFull, .at = 2s, .share = 0.5},
      {.kind = FaultKind::kCacheOff, .at = 3s},
      {.kind = FaultKind::kStuckQueue, .at = 3s}};
  EXPECT_EQ(ConditionAt(rules, 1, {0s, {}}), EngineCondition{});
  EXPECT_EQ(ConditionAt(rules, 0, {2s, {}}), (EngineCondition{.slowdown = 2, .kv_taken = 0.5}));
  EXPECT_EQ(ConditionAt(rules, 1, {2s, {}}), (EngineCondition{.slowdown = 6, .kv_taken = 0.5}));
  EXPECT_EQ(
      ConditionAt(rules, 1, {3s, {}}),
      (EngineCondition{.slowdown = 2, .kv_taken = 0.5, .cache_off = true, .queue_stuck = true}));
}

TEST(Faults, OfPagesStrikeThoseOfTheirCopies) {
  const std::vector<FaultRule> rules = {
      {.kind = FaultKind::kMetricsStale, .copies = {1}, .pages = FaultPages::kEngines},
      {.kind = FaultKind::kMetricsReset, .pages = FaultPages::kGateway},
      {.kind = FaultKind::kMetricsPartial, .pages = FaultPages::kEngines},
      {.kind = FaultKind::kMetricsMissing}};
  const auto strikes = [&](FaultKind kind, const FaultPage& page) {
    return PageFault(rules, kind, page, {}) != nullptr;
  };
  const FaultPage gateway = {.gateway = true, .copies = 2};
  const FaultPage all = {.copies = 2};
  const FaultPage second = {.copy = 1, .copies = 2};
  EXPECT_FALSE(strikes(FaultKind::kMetricsStale, {.copy = 0, .copies = 2}));
  EXPECT_TRUE(strikes(FaultKind::kMetricsStale, second));
  EXPECT_FALSE(strikes(FaultKind::kMetricsStale, all));
  EXPECT_FALSE(strikes(FaultKind::kMetricsStale, gateway));
  EXPECT_TRUE(strikes(FaultKind::kMetricsReset, gateway));
  EXPECT_FALSE(strikes(FaultKind::kMetricsReset, second));
  EXPECT_TRUE(strikes(FaultKind::kMetricsPartial, all));
  EXPECT_FALSE(strikes(FaultKind::kMetricsPartial, gateway));
  EXPECT_TRUE(strikes(FaultKind::kMetricsMissing, gateway));
  EXPECT_TRUE(strikes(FaultKind::kMetricsMissing, all));
}

TEST(Faults, CopiesThatCrashAreAwayForTheirTime) {
  const std::vector<FaultRule> rules = {
      {.kind = FaultKind::kCrash, .at = 5s, .span = 10s, .copies = {1}},
      {.kind = FaultKind::kCrash, .in_flight_min = 9, .copies = {0}, .down = 2s},
      {.kind = FaultKind::kCrash, .at = 1h}};
  CopyOutages outages(2);
  EXPECT_TRUE(outages.Follow(rules, {0s, {}}).empty());
  EXPECT_EQ(outages.Follow(rules, {5s, {}}), std::vector<std::uint32_t>{1});
  EXPECT_TRUE(outages.Down(1));
  outages.Strike(rules[1], {6s, {}});
  EXPECT_EQ(outages.NextReturn({6s, {}}), Duration(8s));
  EXPECT_EQ(outages.Follow(rules, {6s, {}}), std::vector<std::uint32_t>{0});
  EXPECT_EQ(outages.Follow(rules, {8s, {}}), std::vector<std::uint32_t>{0});
  EXPECT_FALSE(outages.Down(0));
  EXPECT_EQ(outages.NextReturn({8s, {}}), std::nullopt);
  EXPECT_EQ(outages.Follow(rules, {15s, {}}), std::vector<std::uint32_t>{1});
  EXPECT_FALSE(outages.Down(1));
  FaultRule for_ever = rules[1];
  for_ever.down = Duration::max();
  outages.Strike(for_ever, {15s, {}});
  outages.Follow(rules, {Duration::max() - 1ns, {}});
  EXPECT_TRUE(outages.Down(0));
  EXPECT_EQ(CrashAt(rules, {}), Duration(1h)) << "the process ends by the last rule alone";
}

TEST(Faults, TheNextChangeIsABeginningOrAnEnd) {
  const std::vector<FaultRule> rules = {
      {.kind = FaultKind::kSlower, .at = 5s, .span = 10s},
      {.kind = FaultKind::kSlower, .at = 1s, .from_first_request = true}};
  EXPECT_EQ(NextChange(rules, {0s, {}}), Duration(5s));
  EXPECT_EQ(NextChange(rules, {5s, {}}), Duration(15s));
  EXPECT_EQ(NextChange(rules, {15s, {}}), std::nullopt);
  EXPECT_EQ(NextChange(rules, {5s, Duration(6s)}), Duration(7s));
}

// A copy without noise whose calls of one token take 30 ms for 1,000 tokens and 10 ms base.
TEST(EngineFaults, ChangeTheEngineWhenTheirTimeComes) {
  SimScheduler scheduler;
  EngineConfig config;
  config.prefill_tokens_per_s = 50'000;
  config.prefill_base_s = 0.01;
  config.noise = {.call_sigma = 0, .session_sigma = 0, .drift_sigma = 0, .cold_share = 0};
  Engine engine(scheduler, config, {});
  const std::vector<FaultRule> rules = {
      {.kind = FaultKind::kSlower, .at = 1s, .span = 1s, .factor = 4},
      {.kind = FaultKind::kRefuse},
      {.kind = FaultKind::kStuckQueue, .at = 1s, .from_first_request = true}};
  EngineFaults faults(scheduler, engine, rules);
  const auto took = [&](Duration from) -> std::optional<Duration> {
    struct Ends final : EngineObserver {
      void OnFirstToken(MonoTime, std::uint32_t) override {}
      void OnFinished(MonoTime at) override { end = at; }
      std::optional<MonoTime> end;
    } ends;
    scheduler.RunUntil(MonoTime{} + from);
    const auto ticket = engine.Submit({.prompt_tokens = 1'000, .output_tokens = 1}, ends);
    scheduler.RunUntil(MonoTime{} + from + 500ms);
    engine.Cancel(ticket);
    if (!ends.end) return std::nullopt;
    return *ends.end - (MonoTime{} + from);
  };
  EXPECT_EQ(took(0s), Duration(30ms));
  EXPECT_EQ(took(1s), Duration(120ms));
  EXPECT_EQ(took(2s), Duration(30ms));
  faults.OnFirstRequest();  // At 2.5 s.
  faults.OnFirstRequest();
  EXPECT_EQ(took(3s), Duration(30ms));
  EXPECT_EQ(took(3500ms), std::nullopt);
}

}  // namespace
}  // namespace plimsoll
