#include "coordinator/run/store_journal.h"

#include "common/wire/record_codec.h"

namespace plimsoll {

Status StoreJournal::Append(const RecordBatch& batch) {
  const auto added = repo_.PutBatch({.run = run_id_,
                                     .agent_slot = batch.agent_slot,
                                     .incarnation = batch.incarnation,
                                     .sequence = batch.sequence},
                                    EncodeBatch(batch));
  // A key that was there already holds other records than these, or these already counted.
  if (added.ok() && *added) records_kept_ += batch.size();
  return added.status();
}

Status StoreJournal::CloseStep(const StepSummary& step, const std::string& note,
                               const std::vector<Cell>& cells) {
  StepRow row{.summary = step, .notes = {}};
  if (!note.empty()) row.notes.push_back(note);
  return repo_.PutStep(run_id_, row, cells);
}

}  // namespace plimsoll
