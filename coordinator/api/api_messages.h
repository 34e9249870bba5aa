// From the values of a run to the messages of proto/plimsoll/v1/api.proto. Pure: the only place
// where the API's numbers are made, so that gRPC and HTTP cannot disagree with the report.
#pragma once

#include <string>
#include <vector>

#include "coordinator/api/run_view.h"
#include "coordinator/run/live_status.h"
#include "coordinator/store/run_values.h"

namespace plimsoll::v1 {
class ListAgentsResponse;
class ListRunsResponse;
class LiveStatus;
class Run;
class RunEvent;
class Step;
}  // namespace plimsoll::v1

namespace plimsoll {

// Each overwrites what `out` held. Texts are mended to UTF-8; a number that is not finite is left
// absent where it may be, else 0.
// `live` says which run a coordinator is at; empty for none.
void ToApi(const std::vector<RunInfo>& runs, const std::string& live, v1::ListRunsResponse* out);
void ToApi(const RunView& view, v1::Run* out);
void ToApi(const ReportedStep& step, v1::Step* out);
void ToApi(const LiveStatus& status, v1::LiveStatus* out);
// Absent: no run is going on.
void ToApi(const std::optional<LiveRun>& live, v1::ListAgentsResponse* out);

}  // namespace plimsoll
