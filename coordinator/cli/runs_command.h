// `plimsoll runs list | show ID | export ID`: what the store keeps. A coordinator that is running
// on it is asked first; else the store is opened for reading.
#pragma once

namespace plimsoll {

// Takes the words after `plimsoll runs`. Returns 0, or 64 for usage, an unknown id or a store that
// cannot be read; 70 if an export cannot be written.
int RunsMain(int argc, const char* const* argv);

}  // namespace plimsoll
