// The table of faults that `plimsoll rehearse` plays, each with what it must come to (design
// section 8); pure.
#pragma once

#include <vector>

#include "coordinator/rehearse/row.h"

namespace plimsoll::rehearse {

// In the order in which they are shown. Names are unique.
std::vector<Row> BuiltinRows();

}  // namespace plimsoll::rehearse
