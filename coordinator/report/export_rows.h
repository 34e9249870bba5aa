// Steps, their parts and records as rows for other programs: CSV (quoted as RFC 4180 says, lines
// end in "\n") or a JSON object a line. Instants and spans are whole nanoseconds, names carry their
// units, what is absent is an empty field or null. docs/api.md lists the columns. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/record/call_record.h"
#include "common/record/eval_record.h"
#include "coordinator/store/keys.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

enum class RowForm : std::uint8_t { kCsv, kJsonl };

// The first line of a CSV file; empty for JSON lines, which name their fields themselves.
std::string StepHeader(RowForm form);
std::string PartHeader(RowForm form);
std::string RecordHeader(RowForm form);
std::string EvalHeader(RowForm form);

// Each appends one line, but for parts. `price`: of the deployment, if known.
void AppendStep(RowForm form, const StepRow& row, std::string* out,
                const std::optional<CostSettings>& price = std::nullopt);
// A line for each limit of the bar.
void AppendParts(RowForm form, const StepRow& row, std::string* out);
// `batch` says who sent the record, and in which batch.
void AppendRecord(RowForm form, const keys::BatchKey& batch, const CallRecord& record,
                  std::string* out);
void AppendEval(RowForm form, const keys::BatchKey& batch, const EvalRecord& eval,
                std::string* out);

}  // namespace plimsoll
