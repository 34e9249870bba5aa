// `plimsoll serve`: the results API over a store, read only, and the runs of its queue of windows.
#pragma once

namespace plimsoll {

// Takes the words after `plimsoll serve`; serves until a signal. Returns the process's exit code: 0
// after a signal, 64 for usage or a store that cannot be read, 4 if an address cannot be bound.
int ServeMain(int argc, const char* const* argv);

}  // namespace plimsoll
