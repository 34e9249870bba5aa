// A process that outlives us: in a session of its own, child of nobody here, none of our
// descriptors but standard error. For guardians, which are to be there when we are not.
#pragma once

#include <string>
#include <vector>

#include "common/base/status.h"
#include "common/base/time.h"

namespace plimsoll {

// Starts argv[0] (looked up in PATH unless it holds a slash) and waits until it writes a line to
// standard output, at most `patience`: that line, without its end. After it the program's standard
// output leads nowhere. NotFound: it cannot be executed. Unavailable: it ended, or stayed silent
// (it is left alone then: it may still begin).
StatusOr<std::string> StartDetached(const std::vector<std::string>& argv, Duration patience);

}  // namespace plimsoll
