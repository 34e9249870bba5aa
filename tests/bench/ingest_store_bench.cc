// What a record costs the coordinator from its bytes to its cell: decoding of real batches, and all
// of it as the run's driver does it, with the append to RocksDB's log before the ack. And whether
// the memory of ingest grows with the records.
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <malloc.h>
#include <unistd.h>

#include "common/wire/record_codec.h"
#include "coordinator/run/store_journal.h"
#include "coordinator/store/rocks_store.h"
#include "tests/bench/step_records.h"

namespace plimsoll {
namespace {

using namespace bench;

std::vector<RecordBatch> Batches() {
  std::vector<RecordBatch> batches;
  for (CallRecord record : Records()) {
    // As an agent stamps it: within its call, in order.
    record.upload_done = record.headers = record.sent;
    if (batches.empty() || batches.back().records.size() == limits::kBatchRecordsMax) {
      batches.push_back({.agent_slot = 0, .incarnation = 1, .sequence = batches.size() + 1});
    }
    batches.back().records.push_back(record);
  }
  return batches;
}

std::vector<std::string> Encoded() {
  std::vector<std::string> encoded;
  for (const RecordBatch& batch : Batches()) encoded.push_back(EncodeBatch(batch));
  return encoded;
}

void Decode(benchmark::State& state) {
  const std::vector<std::string> encoded = Encoded();
  for (auto _ : state) {
    for (const std::string& bytes : encoded) {
      const StatusOr<RecordBatch> batch = DecodeBatch(bytes);
      if (!batch.ok()) return state.SkipWithError(std::string(MessageOf(batch.status())).c_str());
      benchmark::DoNotOptimize(batch->records.data());
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRecords));
}
BENCHMARK(Decode)->Name("record_decode");

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("bench-store-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Processor time of the whole process, so that what the store's own threads do counts too.
void DecodeStoreAdd(benchmark::State& state) {
  const Folder folder;
  auto store = OpenRocksStore(folder.path(), StoreAccess::kReadWrite);
  if (!store.ok()) return state.SkipWithError(std::string(MessageOf(store.status())).c_str());
  RunRepo repo(**store);
  StoreJournal journal(repo, "bench");
  const std::vector<std::string> encoded = Encoded();
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    StepIngest ingest = Empty();
    for (const std::string& bytes : encoded) {
      StatusOr<RecordBatch> batch = DecodeBatch(bytes);
      if (!batch.ok()) return state.SkipWithError(std::string(MessageOf(batch.status())).c_str());
      batch->sequence = ++sequence;
      const Status kept = journal.Append(*batch);
      if (!kept.ok()) return state.SkipWithError(std::string(MessageOf(kept)).c_str());
      for (const CallRecord& record : batch->records) ingest.Add(record);
    }
    benchmark::DoNotOptimize(ingest.cells().data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kRecords));
}
BENCHMARK(DecodeStoreAdd)->Name("record_decode_store_add")->MeasureProcessCPUTime();

// In arenas and in mappings of their own: which of the two a large block is in changes as it goes.
std::size_t BytesInUse() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Bytes of the heap that an ingest holds after `rounds` times the step's records, each round of
// plays of its own.
std::size_t HeapAfter(std::uint32_t rounds) {
  const std::vector<CallRecord> records = Records();
  const std::size_t before = BytesInUse();
  StepIngest ingest = Empty();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (CallRecord record : records) {
      record.play += round * 1000;
      ingest.Add(record);
    }
  }
  return BytesInUse() - before;
}

void Memory(benchmark::State& state) {
  std::size_t few = 0;
  std::size_t many = 0;
  for (auto _ : state) {
    few = HeapAfter(1);
    many = HeapAfter(50);
  }
  static bool said = false;
  if (!std::exchange(said, true)) {
    std::printf("ingest_memory: %zu KiB after %zu records, %zu KiB after %zu (%s)\n", few >> 10,
                kRecords, many >> 10, 50 * kRecords,
                many <= few + few / 20 ? "independent of them: met" : "NOT met");
  }
  if (many > few + few / 20) state.SkipWithError("NOT met: ingest's memory grows with records");
}
BENCHMARK(Memory)->Name("ingest_memory")->Iterations(1);

}  // namespace
}  // namespace plimsoll
