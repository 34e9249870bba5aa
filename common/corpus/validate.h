// The rules every corpus keeps, checked once where one is made or read, so that no later code needs
// to: indices in range, references backward, every call reachable, sizes within
// common/base/limits.h.
#pragma once

#include <cstddef>

#include "common/base/status.h"
#include "common/corpus/session.h"

namespace plimsoll {

// InvalidArgument that names the call or stream and what is wrong with it. `models` is the number
// of the corpus's models.
Status ValidateSession(const Session& session, std::size_t models);

// ValidateSession() of each, annotated with the session's number and id.
Status ValidateCorpus(const Corpus& corpus);

}  // namespace plimsoll
