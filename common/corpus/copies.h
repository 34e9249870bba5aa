// Copies and near copies among recorded sessions. Public trace sets repeat conversations: as forks,
// as longer cuts of one another, and byte for byte. Replayed together they would hit each other's
// caches as no real users do, and they weigh one user's habits several times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/corpus/session.h"

namespace plimsoll {

struct Copy {
  std::size_t session = 0;   // Index into Corpus::sessions of the one to drop …
  std::size_t original = 0;  // … and of the one that stays: the longest.
  std::size_t shared = 0;    // Calls of `session` that are there too.
  bool exact = false;        // The same calls in the same order.
};

// What makes a call equal to another, one key a call of a session.
using CallKeys = std::vector<std::uint64_t>;

// Sessions that share at least half of their calls with one that is as long or longer, in the
// corpus's order. Calls are equal if their keys are; a session without keys, or a corpus without
// any (`keys` empty, else one entry a session), has (tokens in, tokens out) for keys.
std::vector<Copy> FindCopies(const Corpus& corpus, const std::vector<CallKeys>& keys = {});

// Removes them.
void DropCopies(const std::vector<Copy>& copies, Corpus* corpus);

}  // namespace plimsoll
