// A row of the rehearsal's table, as data: what is done to gateway, agent or coordinator, how the
// scenario differs from a small common one, and what must come of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/time.h"

namespace plimsoll::rehearse {

// YAML values by dotted key ("sweep.measure", "bar"), in the order in which they are written. A
// later one of the same key replaces an earlier one. In values {url} is the gateway's API, {root}
// its address, {folder} the row's folder and {name} the row's name.
using Settings = std::vector<std::pair<std::string, std::string>>;

enum class StrikeKind : std::uint8_t {
  kNone,
  kKillAgent,        // SIGKILL.
  kFreezeAgent,      // SIGSTOP, for good.
  kPauseAgent,       // SIGSTOP, and SIGCONT after `lasts`.
  kThrottleAgent,    // Stopped three quarters of the time, to the run's end.
  kKillCoordinator,  // SIGKILL.
  kFillDisk,         // Of the store, to the last byte.
  kStepClock,        // The coordinator's wall clock, by Row::clock_step.
  kDropRecords,      // What the agent sends of records goes nowhere from now on.
};

// Something done from outside while the run goes on.
struct Strike {
  StrikeKind kind = StrikeKind::kNone;
  std::string after;  // Once the coordinator has said a line with this in it …
  Duration wait{};    // … and so long after.
  Duration lasts{};   // Of kPauseAgent.
};

// What must come of a row. What is empty is not looked at, unless it says otherwise.
struct Expected {
  int exit_code = 0;
  bool killed = false;                // The coordinator was killed: no exit code, no report.
  std::vector<std::string> verdicts;  // Of all steps in turn; empty: no step was measured.
  // Verdicts of parts of the last step's bar, by metric: {"errors", "fail"}.
  std::vector<std::pair<std::string, std::string>> parts;
  std::vector<std::string> outcomes;  // Each met by a call of some step.
  std::string drain;                  // "back" or "not back".
  std::vector<std::string> words;     // Said by the run, however its lines are broken.
  std::vector<std::string> unsaid;    // Not said by it.
};

struct Row {
  std::string name;   // "gateway-crash": lower case, digits and dashes.
  std::string fault;  // In words: what is done.
  Settings gateway;   // Beside the common ones.
  Settings scenario;
  std::vector<std::pair<std::string, std::string>> files;  // Programs of the folder: name, text.
  bool gateway_gone = false;                               // It has died before the run begins.
  bool answers = false;  // The gateway knows the built-in eval set "basic".
  bool dialled = false;  // The agent dials in, through a relay of ours; once it ends, another one.
  bool small_disk = false;  // The store is on a disk of a few megabytes.
  bool lists_runs = false;  // What `runs list` says afterwards belongs to the words.
  std::string rolled_back;  // File of the folder that a hook must have written; empty: none.
  std::string time_zone;    // Of the coordinator; empty: as here.
  std::optional<std::int64_t> clock_from_s;  // Its wall clock begins here: Unix seconds.
  Duration clock_step{};                     // Of kStepClock.
  std::uint32_t liveness_percent = 20;       // Of the usual times of liveness.
  std::string needs;  // Key of the scenario, dotted, that a build may not know; empty: none …
  // … and, where the row's own scenario does not have it, a value by which the build is asked.
  std::string needs_value;
  Strike strike;
  Expected expect;
  Duration deadline = 90s;  // For the whole row.
};

}  // namespace plimsoll::rehearse
