// Cells of a step: kept with it in one write, and a damaged one is never a number.
#include "common/base/rng.h"
#include "coordinator/store/cell_codec.h"
#include "coordinator/store/run_repo.h"
#include "gtest/gtest.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

Cell ACell(std::uint32_t lane, std::uint32_t block, std::uint64_t seed) {
  Rng rng(seed);
  Cell cell;
  cell.counts = {.lane = lane,
                 .block = block,
                 .tier = 1,
                 .ttft_n = 40,
                 .ttft_within = 37,
                 .rate_n = 38,
                 .rate_within = 30,
                 .rate_one_chunk = 2,
                 .attempts = 44,
                 .failed = 4,
                 .unsent = 3};
  for (int i = 0; i < 40; ++i) {
    cell.ttft_ns.Record(static_cast<std::int64_t>(rng.Below(5'000'000'000)));
    cell.rate_mtok_s.Record(static_cast<std::int64_t>(rng.Below(90'000)));
  }
  cell.ttft_sent_ns.Record(Histogram::kOverflow + 5);
  return cell;
}

TEST(CellCodec, KeepsCountsAndDistributions) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Cell cell = ACell(3, 7, seed);
    const auto back = DecodeCell(EncodeCell(cell));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, cell) << "seed " << seed;
  }
}

TEST(CellCodec, ADamagedCellIsDataLossOrStillConsistent) {
  const std::string bytes = EncodeCell(ACell(3, 7, 9));
  Rng rng(4);
  for (int i = 0; i < 3'000; ++i) {
    std::string damaged = bytes;
    damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Next());
    if (rng.Chance(0.3)) damaged.resize(rng.Below(damaged.size()));
    const auto cell = DecodeCell(damaged);
    if (cell.ok()) {
      EXPECT_LE(cell->counts.ttft_within, cell->counts.ttft_n);
      EXPECT_LE(cell->counts.failed, cell->counts.attempts);
    } else {
      EXPECT_EQ(cell.status().code(), absl::StatusCode::kDataLoss);
    }
  }
}

TEST(RunRepoCells, AreWrittenWithTheirStepAndReadByStep) {
  MemoryStore store;
  RunRepo repo(store);
  StepRow row;
  row.summary.plan.step = 2;
  const std::vector<Cell> cells = {ACell(0, 1, 1), Cell{}, ACell(1, 0, 2)};
  ASSERT_TRUE(repo.PutStep("a", row, cells).ok());
  EXPECT_EQ(store.commits(), 1) << "all or nothing";
  EXPECT_EQ(store.synced_commits(), 1);
  const auto back = repo.Cells("a", 2);
  ASSERT_TRUE(back.ok());
  ASSERT_EQ(back->size(), 2u) << "empty cells are left out";
  EXPECT_EQ((*back)[0], cells[2]) << "by block, then lane";
  EXPECT_EQ((*back)[1], cells[0]);
  EXPECT_TRUE(repo.Cells("a", 1)->empty());
  EXPECT_EQ(repo.Steps("a")->size(), 1u);
}

}  // namespace
}  // namespace plimsoll
