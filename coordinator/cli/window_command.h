// `plimsoll window add|list|cancel`: the queue of windows that `plimsoll serve` runs.
#pragma once

namespace plimsoll {

// Takes the words after `plimsoll window`; returns the process's exit code: 64 for usage, a
// scenario error or an unknown id, 4 if the queue cannot be written.
int WindowMain(int argc, const char* const* argv);

}  // namespace plimsoll
