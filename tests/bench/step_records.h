// A step's records as they arrive at the coordinator, and the ingest that takes them: shared by the
// benchmarks of ingest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/base/rng.h"
#include "common/plan/lanes.h"
#include "coordinator/ingest/step_ingest.h"

namespace plimsoll::bench {

inline constexpr std::uint32_t kLanes = 100;
inline constexpr std::size_t kRecords = 20'000;

inline StepPlan Step() {
  return {.step = 0,
          .sessions = kLanes,
          .warm_up = 60s,
          .measure = 300s,
          .block = 60s,
          .drain_limit = 120s,
          .prime_limit = 60s};
}

inline std::vector<TierPlan> Tiers() {
  return {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
          {.name = "light", .tier = Tier::kLight, .share = 1}};
}

inline StepIngest Empty() {
  const std::vector<std::uint32_t> slots = {0, 1};
  Bar bar;
  bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 5.3},
                {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10},
                {.metric = Metric::kErrors, .value = 0.02}};
  return StepIngest(Step(), AssignLanes(Tiers(), kLanes, slots), {"heavy", "light"}, {30s, 10s},
                    bar);
}

// In the order of their ends, as they arrive: each lane calls again and again until the step ends.
inline std::vector<CallRecord> Records() {
  Rng rng(1);
  const auto nanos = [&](double seconds) {
    return FromSeconds(seconds * rng.Lognormal(0.5)).count();
  };
  std::vector<CallRecord> records(kRecords);
  for (std::size_t i = 0; i < kRecords; ++i) {
    CallRecord& r = records[i];
    r.lane = static_cast<std::uint32_t>(rng.Below(kLanes));
    r.tier = r.lane % 2;
    r.play = static_cast<std::uint32_t>(i / 8000);
    r.stream = static_cast<std::uint32_t>(rng.Below(3));
    r.first_released = r.released = static_cast<StepNanos>(i) * 18'000'000;
    r.sent = r.released + nanos(0.0002);
    r.first_token = r.first_chunk = r.sent + nanos(2);
    r.last_token = r.first_token + nanos(8);
    r.end = r.last_token + nanos(0.001);
    r.tokens_out = static_cast<std::uint32_t>(400 * rng.Lognormal(0.8));
    r.chunks = r.tokens_out;
    r.http_status = 200;
    r.outcome = Outcome::kOk;
    r.flags = kLastAttempt;
  }
  return records;
}

}  // namespace plimsoll::bench
