// RunRepo: runs, their steps, record batches and events as typed reads and writes on a Store.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "coordinator/judge/cell.h"
#include "coordinator/store/keys.h"
#include "coordinator/store/run_values.h"
#include "coordinator/store/store.h"

namespace plimsoll {

struct RunLogLine {
  WallTime at{};
  std::string text;  // One line for people.
  friend bool operator==(const RunLogLine&, const RunLogLine&) = default;
};

// Batches larger than this once decompressed are DataLoss: a batch has at most 512 records.
inline constexpr std::size_t kBatchBytesMax = std::size_t{16} << 20;

class RunRepo {
 public:
  // `store` outlives the repo.
  explicit RunRepo(Store& store) : store_(store) {}

  // Adds or replaces the run's header; synced. InvalidArgument: no valid id, or a start before
  // 1970. FailedPrecondition: the id is taken by a run that started at another time.
  Status PutRun(const RunInfo& run);
  // NotFound: no run of this id.
  StatusOr<RunInfo> GetRun(std::string_view id) const;
  // By the whole id or an unambiguous beginning of it. NotFound; InvalidArgument: several match.
  StatusOr<RunInfo> FindRun(std::string_view id_start) const;
  // Latest start first, at most `limit`.
  StatusOr<std::vector<RunInfo>> ListRuns(std::size_t limit) const;

  // Adds or replaces the run's recipe; synced. InvalidArgument beyond kRecipeFilesMax or
  // kRecipeBytesMax.
  Status PutRecipe(std::string_view run, const KeptRecipe& recipe);
  // NotFound: none is kept.
  StatusOr<KeptRecipe> GetRecipe(std::string_view run) const;

  // Adds or replaces that phase's attempt; synced. InvalidArgument: an attempt of 0.
  Status PutHook(std::string_view run, const HookOutcome& outcome);
  // In the order in which they started.
  StatusOr<std::vector<HookOutcome>> Hooks(std::string_view run) const;

  // Adds or replaces the step of that index (summary.plan.step); synced: a closed step is kept even
  // if the machine is lost.
  Status PutStep(std::string_view run, const StepRow& row);
  // The same with the step's cells, all in one write; empty cells are left out.
  Status PutStep(std::string_view run, const StepRow& row, const std::vector<Cell>& cells);
  // Of one step, ascending by block, then lane.
  StatusOr<std::vector<Cell>> Cells(std::string_view run, std::uint32_t step) const;
  // Ascending by step.
  StatusOr<std::vector<StepRow>> Steps(std::string_view run) const;

  // Stores the serialized batch under its key in one write; its sequence number is part of that
  // key. Logged: OK means that it may be acked. Idempotent: false if the batch was stored before,
  // which then stays as it is.
  StatusOr<bool> PutBatch(const keys::BatchKey& key, std::string_view bytes);
  // Every batch by slot, incarnation, sequence. An error of the visitor ends the scan.
  Status ScanBatches(
      std::string_view run,
      const std::function<Status(const keys::BatchKey& key, std::string_view bytes)>& visit) const;

  // Appends an event; logged. Events of the same instant keep their order.
  Status PutEvent(std::string_view run, const RunLogLine& event);
  StatusOr<std::vector<RunLogLine>> Events(std::string_view run) const;

 private:
  Store& store_;
};

}  // namespace plimsoll
