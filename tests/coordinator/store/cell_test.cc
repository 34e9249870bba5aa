// Cells of a step: kept with it in one write, and a damaged one is never a number.
#include "common/base/rng.h"
#include "coordinator/store/cell_codec.h"
#include "coordinator/store/run_repo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/memory_store.h"

namespace plimsoll {
namespace {

Cell ACell(std::uint32_t lane, std::uint32_t block, std::uint64_t seed) {
  Rng rng(seed);
  Cell cell;
  cell.counts = {.lane = lane,
                 .block = block,
                 .half = static_cast<std::uint8_t>(seed % 2),
                 .tier = 1,
                 .ttft_n = 40,
                 .rate_n = 38,
                 .rate_one_chunk = 2,
                 .end_to_end_n = 39,
                 .answer_n = 40,
                 .attempts = 44,
                 .failed = 4,
                 .unsent = 3,
                 .tool_answers = 7,
                 .tool_invalid = 2};
  for (std::uint64_t i = rng.Below(5); i > 0; --i) {
    const auto n = static_cast<std::uint32_t>(rng.Below(50));
    const auto hits = static_cast<std::uint32_t>(rng.Below(n + 1));
    PartCounts part{.n = n, .hits = hits, .hits_strict = hits, .hits_loose = hits};
    if (seed % 2 == 0) {
      part.hits_strict = static_cast<std::uint32_t>(rng.Below(hits + 1));
      part.hits_loose = hits + static_cast<std::uint32_t>(rng.Below(n - hits + 1));
    }
    // A ladder, of a time or of a speed; some cells as an earlier version counted them.
    if (seed % 5 != 0) {
      std::uint32_t low = 0;
      std::uint32_t high = n;
      for (std::size_t k = 0; k < 4; ++k) {
        low += static_cast<std::uint32_t>(rng.Below(hits - low + 1));
        high -= static_cast<std::uint32_t>(rng.Below(high - hits + 1));
        part.hits_at[seed % 3 == 0 ? 7 - k : k] = low;
        part.hits_at[seed % 3 == 0 ? k : 7 - k] = high;
      }
    }
    cell.counts.parts.push_back(part);
  }
  for (int i = 0; i < 40; ++i) {
    cell.ttft_ns.Record(static_cast<std::int64_t>(rng.Below(5'000'000'000)));
    cell.rate_mtok_s.Record(static_cast<std::int64_t>(rng.Below(90'000)));
    cell.end_to_end_rate_mtok_s.Record(static_cast<std::int64_t>(rng.Below(50'000)));
    cell.answer_ns.Record(static_cast<std::int64_t>(rng.Below(50'000'000'000)));
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
  const std::string bytes = EncodeCell(ACell(3, 7, 8));
  Rng rng(4);
  for (int i = 0; i < 3'000; ++i) {
    std::string damaged = bytes;
    damaged[rng.Below(damaged.size())] = static_cast<char>(rng.Next());
    if (rng.Chance(0.3)) damaged.resize(rng.Below(damaged.size()));
    const auto cell = DecodeCell(damaged);
    if (cell.ok()) {
      for (const PartCounts& part : cell->counts.parts) {
        EXPECT_LE(part.hits_strict, part.hits);
        EXPECT_LE(part.hits, part.hits_loose);
        EXPECT_LE(part.hits_loose, part.n);
      }
      EXPECT_LE(cell->counts.failed, cell->counts.attempts);
    } else {
      // A broken version number names another version.
      EXPECT_TRUE(absl::IsDataLoss(cell.status()) || absl::IsFailedPrecondition(cell.status()));
    }
  }
}

TEST(CellCodec, CountsOfAnotherVersionAreRefusedInASentence) {
  // Lane 3, block 7, 40 calls of which 37 were within: as the first version wrote it.
  const std::string first("\x08\x03\x10\x07\x20\x28\x28\x25", 8);
  const auto cell = DecodeCell(first);
  EXPECT_TRUE(absl::IsFailedPrecondition(cell.status()));
  EXPECT_THAT(std::string(cell.status().message()), ::testing::HasSubstr("earlier version"));
  std::string later = EncodeCell(Cell{});
  later += std::string("\xc0\x02\x03", 3);  // Field 40, the last one counts: version 3.
  EXPECT_THAT(std::string(DecodeCell(later).status().message()),
              ::testing::HasSubstr("later version"));
}

TEST(CellCodec, CountsThatCannotBeAreDataLoss) {
  const PartCounts wrong[] = {{.n = 5, .hits = 6, .hits_strict = 6, .hits_loose = 6},
                              {.n = 5, .hits = 4, .hits_strict = 5, .hits_loose = 5},
                              {.n = 5, .hits = 4, .hits_strict = 3, .hits_loose = 3},
                              {.n = 5, .hits = 4, .hits_strict = 3, .hits_loose = 6}};
  for (const PartCounts& part : wrong) {
    Cell cell = ACell(1, 1, 1);
    cell.counts.parts = {part};
    EXPECT_TRUE(absl::IsDataLoss(DecodeCell(EncodeCell(cell)).status()));
  }
  const PartCounts fits{
      .n = 5, .hits = 3, .hits_strict = 3, .hits_loose = 3, .hits_at = {0, 1, 1, 2, 4, 4, 5, 5}};
  const auto with = [](PartCounts part) {
    Cell cell = ACell(1, 1, 1);
    cell.counts.parts = {{.n = 2}, part};
    return DecodeCell(EncodeCell(cell));
  };
  ASSERT_TRUE(with(fits).ok());
  EXPECT_EQ(with(fits)->counts.parts[1], fits);
  // Each place of the ladder: over n, and out of order with its neighbours or with the limit.
  for (std::size_t k = 0; k < fits.hits_at.size(); ++k) {
    PartCounts part = fits;
    part.hits_at[k] = 6;
    EXPECT_TRUE(absl::IsDataLoss(with(part).status())) << k;
    part.hits_at[k] = k < 4 ? 4 : 2;
    EXPECT_TRUE(absl::IsDataLoss(with(part).status())) << k;
  }
  std::string short_ladder = EncodeCell(Cell{});
  short_ladder += std::string("\x88\x03\x01", 3);  // Field 49: one count, of no limit.
  EXPECT_TRUE(absl::IsDataLoss(DecodeCell(short_ladder).status()));
  Cell many = ACell(1, 1, 1);
  many.counts.parts.resize(kBarLimitsMax + 1);
  EXPECT_TRUE(absl::IsDataLoss(DecodeCell(EncodeCell(many)).status()));
  std::string uneven = EncodeCell(ACell(1, 1, 1));
  uneven += std::string("\xca\x02\x01\x05", 4);  // One more part_n.
  EXPECT_TRUE(absl::IsDataLoss(DecodeCell(uneven).status()));
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
