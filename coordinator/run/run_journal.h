// RunJournal: where a run leaves what must outlive it. Real: store_journal over the Store; in tests
// a list in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/record/batch.h"
#include "coordinator/ingest/step_ingest.h"
#include "coordinator/judge/step_summary.h"

namespace plimsoll {

class RunJournal {
 public:
  virtual ~RunJournal() = default;
  // The batch and its sequence number in one write; survives a killed process once OK.
  virtual Status Append(const RecordBatch& batch) = 0;
  // Records of all batches that were appended, counted where they are kept.
  virtual std::uint64_t records_kept() const = 0;
  // The judged step with its cells; survives a lost machine once OK. `note` says why it was
  // repeated.
  virtual Status CloseStep(const StepSummary& step, const std::string& note,
                           const std::vector<Cell>& cells) = 0;
};

}  // namespace plimsoll
