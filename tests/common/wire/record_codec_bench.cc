// What a record costs on the wire: bytes, and time to write and to read, in batches of 512.
#include <algorithm>

#include "benchmark/benchmark.h"
#include "common/base/limits.h"
#include "common/base/rng.h"
#include "common/wire/record_codec.h"

namespace plimsoll {
namespace {

// As a step of 15 lanes gives them: calls of some seconds with a few hundred tokens.
RecordBatch TypicalBatch() {
  Rng rng(1);
  RecordBatch batch{.agent_slot = 1, .incarnation = 1, .sequence = 1000};
  const auto nanos = [&](double seconds) {
    return FromSeconds(seconds * rng.Lognormal(0.5)).count();
  };
  StepNanos now = FromSeconds(100).count();
  for (std::size_t i = 0; i < limits::kBatchRecordsMax; ++i) {
    CallRecord r;
    now += nanos(0.1);
    r.step = 3;
    r.lane = static_cast<std::uint32_t>(rng.Below(15));
    r.play = static_cast<std::uint32_t>(rng.Below(3));
    r.session = static_cast<std::uint32_t>(rng.Below(700));
    r.call = static_cast<std::uint32_t>(rng.Below(120));
    r.tier = r.lane % 2;
    r.block = static_cast<std::uint32_t>(now / FromSeconds(60).count());
    r.first_released = r.released = now;
    r.sent = r.released + nanos(0.0002);
    r.upload_done = r.sent + nanos(0.005);
    r.headers = r.upload_done + nanos(0.3);
    r.first_chunk = r.headers + nanos(0.0001);
    r.first_token = r.first_chunk + nanos(0.5);
    r.last_token = r.first_token + nanos(8);
    r.end = r.last_token + nanos(0.001);
    r.tokens_planned = static_cast<std::uint32_t>(60'000 * rng.Lognormal(0.7));
    r.tokens_in = r.tokens_planned + 12;
    r.tokens_cached = r.tokens_planned / 64 * 60;
    r.tokens_out = static_cast<std::uint32_t>(400 * rng.Lognormal(0.8));
    r.chunks = r.tokens_out;
    r.http_status = 200;
    r.outcome = Outcome::kOk;
    r.flags = kLastAttempt;
    batch.records.push_back(r);
  }
  return batch;
}

void BM_EncodeRecord(benchmark::State& state) {
  const RecordBatch batch = TypicalBatch();
  std::size_t bytes = 0;
  for (auto _ : state) {
    const std::string encoded = EncodeBatch(batch);
    bytes = encoded.size();
    benchmark::DoNotOptimize(encoded.data());
  }
  const auto records = static_cast<double>(batch.records.size());
  state.counters["bytes_per_record"] = static_cast<double>(bytes) / records;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch.records.size()));
}
BENCHMARK(BM_EncodeRecord);

void BM_DecodeRecord(benchmark::State& state) {
  const RecordBatch batch = TypicalBatch();
  const std::string encoded = EncodeBatch(batch);
  for (auto _ : state) {
    const StatusOr<RecordBatch> decoded = DecodeBatch(encoded);
    if (!decoded.ok()) state.SkipWithError("refused");
    benchmark::DoNotOptimize(decoded);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(batch.records.size()));
}
BENCHMARK(BM_DecodeRecord);

}  // namespace
}  // namespace plimsoll

BENCHMARK_MAIN();
