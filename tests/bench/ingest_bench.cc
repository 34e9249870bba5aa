// A record folded into its step's cells, against a copy of the record.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "common/base/rng.h"
#include "common/plan/lanes.h"
#include "coordinator/ingest/step_ingest.h"

namespace plimsoll {
namespace {

constexpr std::uint32_t kLanes = 100;
constexpr std::size_t kRecords = 20'000;

StepPlan Step() {
  return {.step = 0,
          .sessions = kLanes,
          .warm_up = 60s,
          .measure = 300s,
          .block = 60s,
          .drain_limit = 120s,
          .prime_limit = 60s};
}

std::vector<TierPlan> Tiers() {
  return {{.name = "heavy", .tier = Tier::kHeavy, .share = 1},
          {.name = "light", .tier = Tier::kLight, .share = 1}};
}

StepIngest Empty() {
  const std::vector<std::uint32_t> slots = {0, 1};
  Bar bar;
  bar.limits = {{.metric = Metric::kTtft, .quantile = 0.9, .value = 5.3},
                {.metric = Metric::kInteractivity, .quantile = 0.9, .value = 10},
                {.metric = Metric::kErrors, .value = 0.02}};
  return StepIngest(Step(), AssignLanes(Tiers(), kLanes, slots), {"heavy", "light"}, {30s, 10s},
                    bar);
}

// In the order of their ends, as they arrive: each lane calls again and again until the step ends.
std::vector<CallRecord> Records() {
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

void Add(benchmark::State& state) {
  const std::vector<CallRecord> records = Records();
  for (auto _ : state) {
    StepIngest ingest = Empty();
    for (const CallRecord& record : records) ingest.Add(record);
    benchmark::DoNotOptimize(ingest.cells().data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRecords));
}
BENCHMARK(Add)->Name("ingest_record");

void Copy(benchmark::State& state) {
  const std::vector<CallRecord> records = Records();
  for (auto _ : state) {
    std::vector<CallRecord> copies;
    copies.reserve(records.size());
    for (const CallRecord& record : records) copies.push_back(record);
    benchmark::DoNotOptimize(copies.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRecords));
}
BENCHMARK(Copy)->Name("ingest_record/baseline");

}  // namespace
}  // namespace plimsoll
