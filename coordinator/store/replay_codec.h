// ReplaySummary ↔ plimsoll.v1.StoredReplay. Part of run_codec.
#pragma once

#include "common/base/status.h"
#include "coordinator/judge/replay_summary.h"

namespace plimsoll {
namespace v1 {
class StoredReplay;
}

void Write(const ReplaySummary& replay, v1::StoredReplay& out);
// DataLoss if a kind is unknown.
StatusOr<ReplaySummary> Read(const v1::StoredReplay& in);

}  // namespace plimsoll
