// What `plimsoll check` prints of a scenario's `signals`: whom it asks, and what they say. Pure.
#pragma once

#include <string>
#include <vector>

#include "coordinator/judge/preflight_summary.h"
#include "coordinator/scenario/signals_spec.h"

namespace plimsoll {

// The sources, how often they are asked, whose numbers decide. At most 100 columns; ends with a
// newline.
std::string SignalsText(const SignalsSpec& signals);

// What one read of every page found, and a line for each limit on what its buckets can decide.
std::string FirstReadText(const std::vector<Finding>& findings,
                          const std::vector<std::string>& decidability);

}  // namespace plimsoll
