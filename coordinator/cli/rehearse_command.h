// `plimsoll rehearse`: every fault on this machine, with real processes and sockets on loopback,
// each against the verdict that it must give.
#pragma once

namespace plimsoll {

// The words after "rehearse". Exit code: 0 every row that was run came to what it had to, 1 one did
// not, 4 could not be started, 5 stopped by a signal, 64 usage.
int RehearseMain(int argc, const char* const* argv);

// `plimsoll rehearse-disk FOLDER MEGABYTES PROGRAM [WORD…]`, for a row alone: becomes the program,
// with a small disk on the folder.
int RehearseDiskMain(int argc, const char* const* argv);

}  // namespace plimsoll
