// A record folded into its step's cells, against a copy of the record.
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/bench/step_records.h"

namespace plimsoll {
namespace {

using namespace bench;

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
