// What servers said of a step, and whether the deployment was back at a run's end, to their stored
// messages and back. Part of run_codec.
#pragma once

#include <cstddef>

#include "common/base/status.h"
#include "coordinator/judge/server_summary.h"

namespace plimsoll {

namespace v1 {
class StoredDrain;
class StoredServer;
}  // namespace v1

void Write(const ServerSummary& server, v1::StoredServer& out);
// Of a step with so many parts. DataLoss: a kind, a source or a signal that nobody has, a part that
// the step does not have, a number that is none.
StatusOr<ServerSummary> Read(const v1::StoredServer& in, std::size_t parts);

void Write(const DrainSummary& drain, v1::StoredDrain& out);
// DataLoss likewise.
StatusOr<DrainSummary> Read(const v1::StoredDrain& in);

}  // namespace plimsoll
