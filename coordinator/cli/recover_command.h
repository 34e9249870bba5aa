// `plimsoll recover [RUN]`: makes the rollbacks that dead coordinators owe, and says what it did.
#pragma once

namespace plimsoll {

// Takes the words after `plimsoll recover`. 0: nothing is owed any more, also where the store is in
// use and hears of it later; 6: a rollback failed; 64: usage, no store, no such run.
int RecoverMain(int argc, const char* const* argv);

}  // namespace plimsoll
