// `plimsoll corpus import | show | synth`: makes corpus files and shows what is in them.
#pragma once

namespace plimsoll {

// Runs the command given by the words after `plimsoll corpus`. Results go to standard output, one
// line that says what is wrong to standard error. Returns the exit code of the process: 0 fine, 64
// usage or a bad input file, 70 internal (a full disk). Writes an output file whole or not at all.
int CorpusMain(int argc, const char* const* argv);

}  // namespace plimsoll
