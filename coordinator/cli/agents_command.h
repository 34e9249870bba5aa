// `plimsoll agents`: who is at the run that is going on.
#pragma once

namespace plimsoll {

// Takes the words after `plimsoll agents`. Returns 0, also when no run is going on, which is said;
// 64 for usage; 4 if the coordinator does not answer.
int AgentsMain(int argc, const char* const* argv);

}  // namespace plimsoll
