// `plimsoll runs list | show ID`: what the store keeps, also beside a run that is going on.
#pragma once

namespace plimsoll {

// Takes the words after `plimsoll runs`. Returns 0, or 64 for usage, an unknown id or a store that
// cannot be read.
int RunsMain(int argc, const char* const* argv);

}  // namespace plimsoll
