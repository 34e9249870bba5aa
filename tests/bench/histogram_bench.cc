// Histogram against a dense array of counts, which is as cheap as counting gets, and forty times
// the memory.
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "common/base/rng.h"
#include "common/stats/histogram.h"

namespace plimsoll {
namespace {

// Times to first token, in nanoseconds: a median of two seconds.
std::vector<std::int64_t> Times(std::uint64_t seed, std::size_t count) {
  Rng rng(seed);
  std::vector<std::int64_t> times(count);
  for (std::int64_t& time : times) time = static_cast<std::int64_t>(2e9 * rng.Lognormal(0.8));
  return times;
}

constexpr std::size_t kStep = 5000;  // Calls of a busy step.
constexpr std::size_t kCell = 12;    // Calls of a lane in a minute.
constexpr std::uint64_t kCells = 75;

void Record(benchmark::State& state) {
  const std::vector<std::int64_t> times = Times(1, kStep);
  for (auto _ : state) {
    Histogram histogram;
    for (const std::int64_t time : times) histogram.Record(time);
    benchmark::DoNotOptimize(histogram);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kStep));
}
BENCHMARK(Record)->Name("histogram_record");

void RecordDense(benchmark::State& state) {
  const std::vector<std::int64_t> times = Times(1, kStep);
  std::vector<std::uint64_t> counts(Histogram::kBuckets);
  for (auto _ : state) {
    for (const std::int64_t time : times) ++counts[Histogram::IndexOf(time)];
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kStep));
}
BENCHMARK(RecordDense)->Name("histogram_record/baseline");

// The cells of a step, merged into one: an item is a cell.
void Merge(benchmark::State& state) {
  std::vector<Histogram> cells(kCells);
  for (std::uint64_t c = 0; c < kCells; ++c) {
    for (const std::int64_t time : Times(c, kCell)) cells[c].Record(time);
  }
  for (auto _ : state) {
    Histogram sum;
    for (const Histogram& cell : cells) sum.Merge(cell);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kCells));
}
BENCHMARK(Merge)->Name("histogram_merge");

void MergeDense(benchmark::State& state) {
  std::vector<std::vector<std::uint64_t>> cells(kCells);
  for (std::uint64_t c = 0; c < kCells; ++c) {
    cells[c].resize(Histogram::kBuckets);
    for (const std::int64_t time : Times(c, kCell)) ++cells[c][Histogram::IndexOf(time)];
  }
  for (auto _ : state) {
    std::vector<std::uint64_t> sum(Histogram::kBuckets);
    for (const auto& cell : cells) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += cell[i];
    }
    benchmark::DoNotOptimize(sum.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kCells));
}
BENCHMARK(MergeDense)->Name("histogram_merge/baseline");

}  // namespace
}  // namespace plimsoll
