// The queue of windows as text. Pure but for what time zones are.
#pragma once

#include <string>

#include "common/base/time.h"
#include "coordinator/windows/window_files.h"

namespace plimsoll {

// What `plimsoll window list` prints: each window, when it is next, what became of it. `served`:
// whether a server runs the queue.
std::string WindowList(const WindowFiles::Listing& listing, WallTime now, bool served);

}  // namespace plimsoll
