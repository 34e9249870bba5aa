// RunJournal over the store: batches as they come, steps as they close.
#pragma once

#include <string>

#include "coordinator/run/run_journal.h"
#include "coordinator/store/run_repo.h"

namespace plimsoll {

class StoreJournal final : public RunJournal {
 public:
  // `repo` outlives it.
  StoreJournal(RunRepo& repo, std::string run_id) : repo_(repo), run_id_(std::move(run_id)) {}

  Status Append(const RecordBatch& batch) override;
  std::uint64_t records_kept() const override { return records_kept_; }
  Status CloseStep(const StepSummary& step, const std::string& note,
                   const std::vector<Cell>& cells) override;

 private:
  RunRepo& repo_;
  const std::string run_id_;
  std::uint64_t records_kept_ = 0;
};

}  // namespace plimsoll
