// `plimsoll peak`: the busiest minute of real traffic, and how many sessions keep as many requests
// in flight.
#pragma once

namespace plimsoll {

// Takes the words after the command's name; returns the process's exit code: 0 a busiest minute was
// found, 3 there is none in what Prometheus has, 4 it could not be asked, 64 a mistake.
int PeakMain(int argc, const char* const* argv);

}  // namespace plimsoll
