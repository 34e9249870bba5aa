// What this machine can give, for the handshake.
#pragma once

#include <string>

#include "common/plan/messages.h"

namespace plimsoll {

// Fills cores, memory, descriptors, ports and a name ("host:pid"). What cannot be read stays 0.
Hello DescribeHost();

// Lets this process open as many descriptors as it is allowed to: the soft limit, often 1,024, is
// raised to the hard one. Where that fails the limit stays, and DescribeHost() tells of it.
void RaiseDescriptorLimit();

}  // namespace plimsoll
