// Copies and near copies among recorded sessions. Public trace sets repeat conversations: as forks,
// as longer cuts of one another, and byte for byte. Replayed together they would hit each other's
// caches as no real users do, and they weigh one user's habits several times.
#pragma once

#include <cstddef>
#include <vector>

#include "common/corpus/session.h"

namespace plimsoll {

struct Copy {
  std::size_t session = 0;   // Index into Corpus::sessions of the one to drop …
  std::size_t original = 0;  // … and of the one that stays: the longest.
  std::size_t shared = 0;    // Calls of `session` with the same (tokens in, tokens out) there.
  bool exact = false;        // Same sequence of (tokens in, tokens out).
};

// Sessions that share at least half of their calls with one that is as long or longer, in the
// corpus's order.
std::vector<Copy> FindCopies(const Corpus& corpus);

// Removes them.
void DropCopies(const std::vector<Copy>& copies, Corpus* corpus);

}  // namespace plimsoll
