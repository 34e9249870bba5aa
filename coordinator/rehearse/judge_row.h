// What came of a row against what had to come of it; pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/rehearse/row.h"

namespace plimsoll::rehearse {

// What a row's processes left behind.
struct RowFacts {
  std::string not_run;           // Why it cannot be run here; empty: it was.
  std::string trouble;           // What kept it from being run or from ending; empty: nothing.
  std::optional<int> exit_code;  // Of `plimsoll run`; absent: killed by a signal.
  std::string report;            // Its JSON report; empty: it wrote none.
  std::string words;             // All that it said.
  std::vector<std::string> left_behind;  // Processes that outlived it.
  bool rolled_back = false;              // The file that Row::rolled_back names is there.
  Duration took{};
};

enum class RowState : std::uint8_t {
  kAsExpected,
  kMismatch,
  kBusy,    // A mismatch that the machine may be to blame for: a step was void for its sake.
  kNotRun,  // Not possible here.
};
// "ok", "WRONG", "busy", "not run".
const char* Name(RowState state);

struct RowResult {
  std::string name;
  std::string fault;
  std::string expected;  // "fail, exit 1"
  std::string got;       // The same form; empty: not run.
  std::string why;       // The run's own reason, or what differs, or why it was not run.
  RowState state = RowState::kNotRun;
  bool repeated = false;  // Alone, since the machine was busy.
  Duration took{};
};

// Never throws, whatever the report holds.
RowResult JudgeRow(const Row& row, const RowFacts& facts);

// "fail, exit 1": what a row has to come to.
std::string ExpectedWords(const Expected& expected);

}  // namespace plimsoll::rehearse
