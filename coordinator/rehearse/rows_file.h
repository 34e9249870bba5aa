// Rows of a person's own from YAML (docs/rehearse.md); pure.
#pragma once

#include <string_view>
#include <vector>

#include "common/config/problems.h"
#include "coordinator/rehearse/row.h"

namespace plimsoll::rehearse {

// Nothing but problems if there is one.
std::vector<Row> ReadRows(std::string_view text, Problems& problems);

}  // namespace plimsoll::rehearse
