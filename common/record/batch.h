// A sequenced batch of records: the unit of sending, acking and storing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/record/call_record.h"
#include "common/record/eval_record.h"

namespace plimsoll {

// Idempotent by (run, agent slot, incarnation, sequence).
struct RecordBatch {
  std::uint32_t agent_slot = 0;
  std::uint64_t incarnation = 0;
  std::uint64_t sequence = 0;  // From 1, without gaps.
  std::vector<CallRecord> records;
  std::vector<EvalRecord> evals;
  std::size_t size() const { return records.size() + evals.size(); }
  friend bool operator==(const RecordBatch&, const RecordBatch&) = default;
};

}  // namespace plimsoll
