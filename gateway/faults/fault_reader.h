// Faults as people write them in the gateway's YAML: a line each. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "common/config/field_reader.h"
#include "gateway/faults/faults.h"

namespace plimsoll {

// Reads the list under the key "faults" of `top`; absent: none. What is wrong becomes a problem at
// its place: keys that a kind does not take, copies of `copies` that the engine has not.
std::vector<FaultRule> ReadFaults(FieldReader& top, std::uint32_t copies, Problems& problems);

}  // namespace plimsoll
