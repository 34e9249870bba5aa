// A run as the API, the text form and the dashboard see it: read from the store once, with what its
// coordinator knows beside it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "coordinator/report/report_model.h"
#include "coordinator/run/live_status.h"
#include "coordinator/store/run_repo.h"
#include "coordinator/store/run_values.h"

namespace plimsoll {

// The run that is going on.
struct LiveRun {
  std::string run_id;
  std::optional<LiveStatus> status;  // Absent: another process runs it, or it has just begun.
  std::string coordinator_http;      // Where that process answers; empty: here.
};

struct RunView {
  RunInfo info;
  KeptRecipe recipe;  // Empty: none is kept.
  ReportModel model;
  std::vector<RunLogLine> log;
  bool live = false;                 // A coordinator is at it.
  std::optional<LiveStatus> status;  // Absent: it is over, or another process runs it.
};

// By the whole id or an unambiguous beginning. NotFound names the latest runs. A stored scenario
// that this version cannot read leaves the view without target and bar, and a note says so.
StatusOr<RunView> ReadRunView(const RunRepo& repo, std::string_view id_start,
                              const std::optional<LiveRun>& live);

// `status`; of a run that was not found, with the ids of the latest runs behind it.
Status WithLatestRuns(const RunRepo& repo, const Status& status);

// What `plimsoll runs show` prints: the report, how it looks now or how it ended, the log.
std::string RunText(const RunView& view);

}  // namespace plimsoll
