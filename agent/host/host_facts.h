// What this machine can give, for the handshake.
#pragma once

#include <string>

#include "common/plan/messages.h"

namespace plimsoll {

// Fills cores, memory, descriptors, ports and a name ("host:pid"). What cannot be read stays 0.
Hello DescribeHost();

}  // namespace plimsoll
