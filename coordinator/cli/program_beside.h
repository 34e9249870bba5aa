// Our other programs: in the folder of the one that runs.
#pragma once

#include <string>

namespace plimsoll {

// "/…/bin/plimsoll-agent"; the bare name where it cannot be told.
std::string ProgramBeside(const char* name);

}  // namespace plimsoll
