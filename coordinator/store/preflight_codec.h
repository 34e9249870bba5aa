// What preflight found, and how true the replay was, as stored messages: parts that run_codec puts
// into runs and steps.
#pragma once

#include "common/base/status.h"
#include "coordinator/judge/preflight_summary.h"
#include "coordinator/judge/step_summary.h"

namespace plimsoll {

namespace v1 {
class StoredFidelity;
class StoredPreflight;
}  // namespace v1

void WriteFidelity(const FidelitySummary& summary, v1::StoredFidelity* out);
FidelitySummary ReadFidelity(const v1::StoredFidelity& in);

void WritePreflight(const PreflightSummary& summary, v1::StoredPreflight* out);
// DataLoss for a finding of no known level.
StatusOr<PreflightSummary> ReadPreflight(const v1::StoredPreflight& in);

}  // namespace plimsoll
