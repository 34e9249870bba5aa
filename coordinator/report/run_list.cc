#include "coordinator/report/run_list.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "coordinator/report/run_report.h"

namespace plimsoll {

std::string Ending(const RunInfo& run, Liveness liveness) {
  if (run.state == RunState::kRunning) {
    switch (liveness) {
      case Liveness::kUnknown:
        return "running, or its coordinator died";
      case Liveness::kLive:
        return "running";
      case Liveness::kDead:
        return "broken off: its coordinator died";
    }
  }
  if (!run.exit_code.has_value()) return Name(run.state);
  return fmt::format("{}, exit {}", Name(run.state), *run.exit_code);
}

std::string RunList(const std::vector<RunInfo>& runs, std::string_view live) {
  if (runs.empty()) return "no runs\n";
  std::string text;
  for (const RunInfo& run : runs) {
    const Liveness liveness = run.id == live ? Liveness::kLive : Liveness::kDead;
    text += fmt::format("{}  {}  {}\n", run.id, WallText(run.started), Ending(run, liveness));
    if (run.rollback == RollbackState::kFailed) {
      text += fmt::format("    ROLLBACK FAILED: plimsoll recover {}\n", run.id);
    }
    const std::string& what = run.capacity.has_value() ? run.capacity->sentence : run.message;
    if (!what.empty()) text += "    " + Printable(what) + "\n";
  }
  return text;
}

std::string LogText(const std::vector<RunLogLine>& log) {
  std::string text;
  for (const RunLogLine& line : log) {
    text += fmt::format("  {}  {}\n", WallText(line.at), Printable(line.text));
  }
  return text;
}

}  // namespace plimsoll
