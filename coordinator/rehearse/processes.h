// What the system says of other processes, by /proc.
#pragma once

#include <string_view>
#include <vector>

namespace plimsoll::rehearse {

// Of the process's first thread, by rising number; empty: none, or the process is gone.
std::vector<int> ChildrenOf(int pid);

// Whether it runs and is called so; what has ended and waits to be reaped does not run. With the
// name a number that another process has taken since is not mistaken.
bool IsRunning(int pid, std::string_view name);

}  // namespace plimsoll::rehearse
