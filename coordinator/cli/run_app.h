// Composition root of `plimsoll run`: the only place where the coordinator's concrete types meet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "coordinator/cli/progress.h"
#include "coordinator/cli/run_audience.h"
#include "coordinator/cli/scenario_files.h"
#include "coordinator/rehearse/rehearsal_settings.h"

namespace plimsoll {

struct RunFlags {
  std::string store = "plimsoll-store";
  std::string json;                           // Empty: no JSON report.
  RunFiles files;                             // For CI.
  std::optional<std::uint64_t> nonce;         // Absent: drawn.
  ColourChoice colour = ColourChoice::kAuto;  // Of progress.
  bool promote = false;                       // After a confident pass.
  // Where the results API listens while the run lasts; "off" or empty: not at all.
  std::string http = "127.0.0.1:0";
  std::string grpc = "off";
  RehearsalSettings rehearsal;  // As usual, unless `plimsoll rehearse` started it.
};

// Runs to the end, prints the report, returns the process's exit code.
int RunScenario(LoadedScenario loaded, const RunFlags& flags);

}  // namespace plimsoll
