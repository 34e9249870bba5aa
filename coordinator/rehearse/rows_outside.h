// The rows whose fault comes from outside the gateway: agents, coordinator, clock, disk, hooks.
#pragma once

#include <vector>

#include "coordinator/rehearse/row.h"

namespace plimsoll::rehearse {

std::vector<Row> OutsideRows();

}  // namespace plimsoll::rehearse
