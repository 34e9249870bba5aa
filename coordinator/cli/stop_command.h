// `plimsoll stop RUN [--abort] [--store DIR] [--wait DURATION]`.
#pragma once

namespace plimsoll {

// Exit code: 0 the run has ended, 1 it goes on after the wait, 64 there is nothing to stop.
int StopMain(int argc, const char* const* argv);

}  // namespace plimsoll
