// `plimsoll check SCENARIO` and `plimsoll run SCENARIO`.
#pragma once

namespace plimsoll {

// Take the words after the command's name; return the process's exit code (design section 10).
int CheckMain(int argc, const char* const* argv);
int RunMain(int argc, const char* const* argv);

}  // namespace plimsoll
