// A rehearsal's results as a table for people and as JSON; pure.
#pragma once

#include <string>
#include <vector>

#include "common/base/time.h"
#include "coordinator/rehearse/judge_row.h"

namespace plimsoll::rehearse {

struct Programs {
  std::string plimsoll;  // Paths.
  std::string agent;
  std::string gateway;
  std::vector<std::string> versions;  // As each says it, in the same order.
};

// The table: fault, expected, got, why; then one sentence. At most kReportColumns wide.
std::string TableText(const std::vector<RowResult>& rows, Duration took);

// "34 of 39 faults gave their verdict, 4 were not run here, 1 did not: stall."
std::string Sentence(const std::vector<RowResult>& rows, Duration took);

// 0: every row that was run came to what it had to; 1: one did not.
int ExitCodeOf(const std::vector<RowResult>& rows);

std::string ResultsJson(const std::vector<RowResult>& rows, const Programs& programs,
                        Duration took);

// What rows there are: name and fault.
std::string RowList(const std::vector<Row>& rows);

}  // namespace plimsoll::rehearse
